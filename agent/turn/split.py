"""Splitting a long answer into messages without breaking fences, links or graphemes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import regex

FENCE: Final = re.compile(r"^ {0,3}(`{3,16}|~{3,16})(?![`~])[ \t]*([^\n`]{0,80})$", re.MULTILINE)
"""The line that opens or closes a block of code. A longer run of marks is none: it would be repeated in each part."""
# Each piece can end at one place only, so that a text of brackets and nothing else takes no longer than any other.
_LINK: Final = re.compile(
    r"\[[^\[\]\n]{0,500}\]\((?:[^()\s]|\([^()\s]{0,500}\)){0,2000}\)|<?https?://[^\s<>]+>?|`[^`\n]+`"
)
_CLUSTER: Final = regex.compile(r"\X")
_BREAKS: Final = (
    re.compile(r"\n\n+"),
    re.compile(r"\n"),
    re.compile("(?<=[.!?\u2026])\\s+|(?<=[\u3002\uff01\uff1f])\\s*"),
    re.compile(r"[ \t]+"),
)
"""Where to break, best first."""

type Measure = Callable[[str], int]

MEASURES: Final[dict[str, Measure]] = {
    "characters": len,
    "utf16": lambda text: len(text.encode("utf-16-le", "surrogatepass")) // 2,
    "bytes": lambda text: len(text.encode("utf-8", "surrogatepass")),
}
"""What a platform counts, by `Capabilities.length_unit`."""

_SMALLEST: Final = 40
"""Below this a fence could not be closed and opened again."""


def split(text: str, limit: int, measure: Measure = len) -> tuple[str, ...]:
    """Split a text into parts of at most `limit` (by `measure`), best breaks first.

    A code fence that a break falls into is closed in one part and opened again, language and all, in the next. A link
    or inline code is kept whole unless it is longer than a part; a grapheme always unless it alone is longer.
    Nothing but white space at a break (outside of fences) is lost; an empty text gives no part.

    Raises:
        ValueError: `limit` is below 40.
    """
    if limit < _SMALLEST:
        raise ValueError(f"the limit of a message is {limit}; at least {_SMALLEST} is needed")
    parts: list[str] = []
    rest, opened = text.strip("\n"), ""
    while rest.strip():
        if measure(opened) > limit // 4:  # there would be no room for what stands in the block
            opened = ""
        head = f"{opened}\n" if opened else ""
        if measure(head + rest) <= limit:
            parts.append(head + rest)
            break
        room = limit - measure(head)
        end, skip = _cut(rest, room, measure, in_fence=bool(opened))
        opened_then = _open_fence(head + rest[:end])
        if opened_then:
            closing = "\n" + _closing(opened_then)
            end, skip = _cut(rest, room - measure(closing), measure, in_fence=bool(opened))
            opened_then = _open_fence(head + rest[:end])
        part = head + rest[:end]
        if opened_then:
            part = part.rstrip("\n") + "\n" + _closing(opened_then)
        if rest[:end].strip():
            parts.append(part)
        rest, opened = rest[end + skip :], opened_then
    return tuple(part for part in parts if part.strip())


def _closing(opening: str) -> str:
    match = FENCE.match(opening)
    return match[1] if match else "```"


def _open_fence(text: str) -> str:
    """Return the line that opens the fence which is still open at the end of the text, or nothing."""
    opened = ""
    for match in FENCE.finditer(text):
        if not opened:
            opened = match[0].strip()
        elif match[1].startswith(_closing(opened)) and not match[2].strip():
            opened = ""
    return opened


def _cut(text: str, room: int, measure: Measure, *, in_fence: bool) -> tuple[int, int]:
    """Return where to end this part, and how many characters of white space to skip there."""
    window = _prefix(text, room, measure)
    kept = [match.span() for match in _LINK.finditer(text, 0, min(len(text), window + 2_000))]
    least = window // 3
    breaks = _BREAKS[1:2] if in_fence else _BREAKS
    for pattern in breaks:
        best: tuple[int, int] | None = None
        for match in pattern.finditer(text, 0, min(len(text), window + 1)):
            start = match.start()
            inside = any(begin < start < end for begin, end in kept)
            if least <= start <= window and start > 0 and not inside:
                best = (start, 0 if in_fence and match[0] != "\n" else len(match[0]))
        if best is not None:
            return best
    for begin, end in kept:
        if 0 < begin < window < end and measure(text[begin:end]) <= room:
            return begin, 0
    return window, 0


def _prefix(text: str, room: int, measure: Measure) -> int:
    """Return how many characters of the text, in whole graphemes, fit; at least one grapheme or `room` characters."""
    used = end = 0
    for match in _CLUSTER.finditer(text):
        size = measure(match[0])
        if used + size > room:
            break
        used += size
        end = match.end()
    if end:
        return end
    # One grapheme that is longer than a message (a letter below a thousand marks) has to be broken somewhere.
    while end < len(text) and used + measure(text[end]) <= room:
        used += measure(text[end])
        end += 1
    return max(end, 1)
