"""Texts that Discord shows as they are, whatever signs of its Markdown they hold. Pure functions."""

from __future__ import annotations

import re
from typing import Final

_EVERYWHERE: Final = "\\*_~|`<>[]()#@"
_SIGNS: Final = {ord(sign): f"\\{sign}" for sign in _EVERYWHERE}
"""Signs that mean something everywhere."""
_STARTS: Final = re.compile(r"^(\s*)([-+])|^(\s*\d{1,9})(\.)", re.MULTILINE)
"""Signs that do at the beginning of a line."""


def escaped(text: str) -> str:
    """Return a text in which nothing is formatting, a link or a mention."""
    return _STARTS.sub(_escape, text.translate(_SIGNS))


def escaped_length(text: str) -> int:
    """Return how many characters a text has once it is escaped; it is asked often where a text is cut to a length."""
    starts = sum(_STARTS.match(line) is not None for line in text.split("\n"))
    return len(text) + sum(map(text.count, _EVERYWHERE)) + starts


def _escape(match: re.Match[str]) -> str:
    before, sign = (match[1], match[2]) if match[2] is not None else (match[3], match[4])
    return f"{before}\\{sign}"
