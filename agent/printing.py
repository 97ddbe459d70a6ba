"""Making text safe to print: a terminal shows it and does not obey it."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from agent.text import clean

_DIRECTIONS: Final = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_RAW: Final = re.compile(f"[\x7f-\x9f\u2028\u2029{_DIRECTIONS}\ud800-\udfff]")
_DIRECTION: Final = re.compile(f"[{_DIRECTIONS}]")


def printable(text: str) -> str:
    """Return text that a terminal shows and does not obey: no escape sequences, no direction marks."""
    return _DIRECTION.sub("", clean(text)).replace("\t", "    ")


def safe_json(value: Any, *, indent: int | None = None) -> str:
    """Return JSON that is safe to print: control and direction characters stand as escapes."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=str)
    return _RAW.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
