"""What is wrong with the settings, said so that it can be mended.

Exception
└── SettingsError        one or more problems, all of one run
└── SecretError          a secret could not be read (its text names the reference, never the value)
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_PART = 80
_BARE = re.compile(r"[A-Za-z0-9_-]+")

type KeyPath = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value came from: a line of a file, or an environment variable."""

    source: str
    """The file's path, or the variable's name."""
    line: int | None = None
    """Counted from 1; None where it is unknown or the source is a variable."""
    variable: bool = False

    def __str__(self) -> str:
        """`plugins.toml:12`, or `ISTHMUS__AGENT__MODEL`."""
        return self.source if self.line is None else f"{self.source}:{self.line}"


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake. `value` is already safe to show: secrets never get here."""

    origin: Origin
    key: str
    """The dotted key, such as `plugins.memory.decay.days`; empty for the file as a whole."""
    expected: str
    """What would be right, or what is wrong, as a phrase: "expected a whole number"."""
    value: str | None = None
    nearest: str | None = None
    """The nearest valid name for an unknown key, or the nearest valid value."""

    def __str__(self) -> str:
        """One printable line: where, which key, its value, what is expected, the nearest name."""
        what = f"{self.key} = {self.value}" if self.value is not None else self.key
        line = f"{self.origin}: {what}: {self.expected}" if what else f"{self.origin}: {self.expected}"
        if self.nearest:
            line += f" (did you mean {self.nearest}?)"
        return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in line)


class SettingsError(Exception):
    """The settings cannot be used; `problems` holds every mistake that was found."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        """Keep the problems in the order in which a reader meets them."""
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    @classmethod
    def merged(cls, errors: Iterable[SettingsError]) -> SettingsError:
        """One error that holds the problems of several, so that one run reports them all."""
        return cls(problem for error in errors for problem in error.problems)


class SecretError(Exception):
    """A secret could not be read; the text names the variable or path and the way out."""


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """The problems as a reader meets them: the file from top to bottom, then the variables."""
    return sorted(problems, key=lambda problem: (problem.origin.variable, problem.origin.line or 0))


def dotted(path: KeyPath) -> str:
    """`("agent", "triggers", 2)` as `agent.triggers[2]`; a part that is no bare TOML key stands in quotes."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            shown = part if _BARE.fullmatch(part) else json.dumps(part, ensure_ascii=False)
            shown = shown if len(shown) <= MAX_PART else f"{shown[:MAX_PART]}…"
            text += f".{shown}" if text else shown
    return text
