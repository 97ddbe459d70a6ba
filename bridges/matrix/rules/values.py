"""Reading JSON that anybody may have written: a value of another kind than expected counts as absent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

type Json = Mapping[str, Any]


def table(value: Any) -> Json:
    """Return an object, or an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def text(value: Any) -> str:
    """Return a text, or an empty one for anything else."""
    return value if isinstance(value, str) else ""


def whole(value: Any) -> int:
    """Return a whole number, or 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def texts(value: Any) -> tuple[str, ...]:
    """Return the texts of a list, or none for anything else."""
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()
