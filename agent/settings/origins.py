"""Where each value came from, so that a mistake is reported with its line or its variable."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent.settings.errors import KeyPath, Origin

if TYPE_CHECKING:
    from collections.abc import Mapping

BUILT_IN = "built-in defaults"
PREFIX = "ISTHMUS__"


@dataclass(frozen=True, slots=True)
class Variable:
    """One `ISTHMUS__…` variable and its text."""

    name: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Origins:
    """The line of each key of one file, and the variable of each key that the environment gives."""

    file: str | None = None
    lines: Mapping[tuple[str, ...], int] = field(default_factory=dict)
    variables: Mapping[tuple[str, ...], Variable] = field(default_factory=dict)

    def of(self, path: KeyPath) -> Origin:
        """The origin of the value at `path`, else of the nearest table around it."""
        keys = tuple(str(part) for part in path)
        for length in range(len(keys), 0, -1):
            prefix = keys[:length]
            if variable := self.variables.get(prefix):
                return Origin(variable.name, variable=True)
            if line := self.lines.get(prefix):
                return Origin(self.file or BUILT_IN, line)
            if length == len(keys) and (inner := self._within(prefix)):
                return Origin(inner.name, variable=True)
        return Origin(self.file or BUILT_IN)

    def _within(self, prefix: tuple[str, ...]) -> Variable | None:
        """A variable below `prefix`: it made a table that no file has."""
        return next((item for path, item in self.variables.items() if path[: len(prefix)] == prefix), None)

    def suggestion(self, path: KeyPath, nearest: str) -> str:
        """How the nearest name is written where the mistake was made: as a key, or as a variable."""
        origin = self.of(path)
        if not origin.variable:
            return nearest
        written = next(keys for keys, variable in self.variables.items() if variable.name == origin.source)
        around = tuple(str(part) for part in path[:-1])
        return PREFIX + "__".join((*around, *nearest.split("."), *written[len(path) :])).upper()
