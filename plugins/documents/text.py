"""The sections of a text: what stands below which heading. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import regex

PATH: Final = " › "  # noqa: RUF001 - not the sign that quotes a line in chats
"""Stands between a heading and the one below it."""
LONGEST_HEADING: Final = 200
"""Of a whole path, in characters."""
_LONGEST_LINE: Final = 1_000
"""A longer one is no heading."""

_ATX = regex.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_SETEXT = regex.compile(r" {0,3}(=+|-+)[ \t]*")
_FENCE = regex.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_EMPHASIS = regex.compile(r"(\*\*|__|[*_`])(?=\S)(.+?)(?<=\S)\1")
_LINK = regex.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")


@dataclass(frozen=True, slots=True)
class Section:
    """A piece of a document below one heading."""

    heading: str
    """The path of headings, outermost first; empty where there is none."""
    text: str


def plain_sections(text: str) -> Iterator[Section]:
    """Yield a text without headings."""
    yield Section("", text)


def page_sections(pages: Iterable[str]) -> Iterator[Section]:
    """Yield each page that has a text, below its number."""
    for number, text in enumerate(pages, start=1):
        if text.strip():
            yield Section(f"p. {number}", joined_lines(text))


def joined_lines(text: str) -> str:
    """Return text taken from a page with the words together that a line's end had parted."""
    return regex.sub(r"(?<=\p{L})(?:-|\u00ad)\n(?=\p{Ll})", "", text)


def markdown_sections(text: str) -> Iterator[Section]:
    """Yield what stands below each heading of a Markdown text; a heading inside a block of code is none."""
    path: list[tuple[int, str]] = []
    lines: list[str] = []
    fence: str | None = None
    unheard = False  # a heading that nothing has shown yet
    for line in text.split("\n"):
        fence = _fence(line, fence)
        level, title = (0, "") if fence is not None else _heading(line, lines)
        if not level:
            lines.append(line)
            continue
        if any(map(str.strip, lines)) or (unheard and level <= path[-1][0]):
            yield Section(_path(path), "\n".join(lines))
        lines = []
        path = [(above, name) for above, name in path if above < level] + [(level, title)]
        unheard = True
    if any(map(str.strip, lines)) or unheard:
        yield Section(_path(path), "\n".join(lines))


def has_headings(text: str) -> bool:
    """Tell whether a text that does not say what it is looks like Markdown: a heading between blank lines."""
    lines = ["", *text[:20_000].split("\n"), ""]
    return any(
        (found := _ATX.fullmatch(line)) is not None and bool(found[2]) and not (before.strip() or after.strip())
        for before, line, after in zip(lines, lines[1:], lines[2:], strict=False)
    )


def _fence(line: str, fence: str | None) -> str | None:
    """Return the fence of the block of code that goes on behind this line."""
    found = _FENCE.fullmatch(line)
    if found is None:
        return fence
    if fence is None:
        return None if found[1][0] == "`" and "`" in found[2] else str(found[1])
    closes = found[1].startswith(fence) and not found[2].strip()
    return None if closes else fence


def _heading(line: str, lines: list[str]) -> tuple[int, str]:
    """Return level and title of a heading; level 0 for what is none. One that is underlined leaves `lines`."""
    if len(line) > _LONGEST_LINE:
        return 0, ""
    if found := _ATX.fullmatch(line):
        return len(found[1]), _title(found[2] or "")
    if (found := _SETEXT.fullmatch(line)) and _is_underlined(lines):
        return (1 if found[1][0] == "=" else 2), _title(lines.pop())
    return 0, ""


def _is_underlined(lines: list[str]) -> bool:
    """Tell whether the last line is one paragraph of its own, and no item of a list, quotation or table."""
    if not lines or not lines[-1].strip() or regex.match(r" {4}|\t| {0,3}([-*+>|]|\d+[.)])", lines[-1]):
        return False
    return len(lines) == 1 or not lines[-2].strip()


def _title(text: str) -> str:
    return str(_EMPHASIS.sub(r"\2", _LINK.sub(r"\1", text[:_LONGEST_LINE]))).strip()


def _path(path: list[tuple[int, str]]) -> str:
    """Return the headings as one line; of a path that is too long the innermost are kept."""
    names = [name for _, name in path if name]
    while len(names) > 1 and len(PATH.join(names)) > LONGEST_HEADING:
        del names[0]
    return PATH.join(names)[:LONGEST_HEADING]
