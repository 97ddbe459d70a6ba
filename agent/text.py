"""Making untrusted text safe to keep and to carry: it stays data."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_BREAKS = re.compile("[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")


def clean(text: str) -> str:
    """Return text that every part can carry: no NUL, no control characters but newline and tab, no lone surrogate.

    A lone surrogate becomes U+FFFD; CR LF and CR become a newline.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub("", text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def one_line(text: str) -> str:
    """Return the text as exactly one line: every kind of line break becomes one space."""
    return _BREAKS.sub(" ", text).strip()


def clip(text: str, limit: int) -> str:
    """Return the text, cut to `limit` characters with an ellipsis where it was longer."""
    return text if len(text) <= limit else text[: max(limit - 1, 0)] + "…"


_UNSEEN_BREAKS = {ord(character): f"\\u{ord(character):04x}" for character in "\x7f\x85\u2028\u2029"}


def json_line(value: Mapping[str, str]) -> str:
    """Return an object as JSON in exactly one line, also for those who take U+2028 and its like for line breaks."""
    return json.dumps(value, ensure_ascii=False).translate(_UNSEEN_BREAKS)
