"""What a name must look like, and which known name a mistyped one most probably means."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

RESERVED: Final = frozenset({"agent", "core"})
"""The core's own names: it owns tables, tools and commands under them."""
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
ALIKE: Final = 0.6
"""How alike two names must be for one to be suggested for the other."""
NEARLY_EQUAL: Final = 0.85
"""How alike two names are when one is most probably a slip of the pen for the other."""


def name_problem(name: object) -> str | None:
    """Say what is wrong with a plugin's or bridge's name; None when nothing is.

    The name is also a settings table, a label of metrics and the end of a version table's name.
    """
    if not isinstance(name, str):
        return f"has no name: give its class a text `name`, not {type(name).__name__}"
    if not _NAME.fullmatch(name):
        return f"its name {name!r} must be 1 to 40 lower-case letters, digits and underscores, a letter first"
    if name in RESERVED:
        return f"its name {name!r} is taken by the core: choose another"
    return None


def nearest(name: str, known: Iterable[str], alike: float = ALIKE) -> str | None:
    """Return the known name that is most like `name`; None when none is alike."""
    from difflib import get_close_matches  # only mistakes need it

    without_case = {known_name.lower(): known_name for known_name in sorted(known)}
    found = get_close_matches(name.lower(), without_case, n=1, cutoff=alike)
    return without_case[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ` (did you mean …?)`, or nothing when no known name is alike."""
    near = nearest(name, known)
    return f" (did you mean {near}?)" if near else ""
