"""Cuts a text into parts: at paragraphs, else at sentences, else at words, never within a character. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import regex

from plugins.documents.text import Section

SIZE: Final = 900
"""Characters of a part at most."""

#: What ends a piece, from the best place for a cut to the worst.
_PARAGRAPH = regex.compile(r"\n[ \t]*\n\s*")
_SENTENCE = regex.compile(
    r"(?<![.!?…])[.!?…]++[\"'”’»)\]]*+\s++"  # noqa: RUF001 - the marks of many scripts
    r"|[。！？｡]++[」』）”]*+\s*+"  # noqa: RUF001
    r"|\n(?=[ \t]*+(?:[-*+•|>]|\d+[.)])[ \t])"
)
_WORD = regex.compile(r"\s+")
_CHARACTER = regex.compile(r"\X")

type Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a document."""

    heading: str
    content: str


def parts(sections: Iterable[Section], size: int = SIZE) -> Iterator[Part]:
    """Yield the parts of a document in their order; none goes over the border of a section.

    A heading with nothing below it is a part of its own.
    """
    for section in sections:
        empty = True
        for begin, end in packed(pieces(section.text, size), size):
            if content := section.text[begin:end].strip():
                empty = False
                yield Part(section.heading, content)
        if empty and section.heading.strip():
            yield Part(section.heading, section.heading.strip())


def pieces(text: str, size: int = SIZE) -> Iterator[Span]:
    """Yield where the pieces of a text begin and end, none longer than `size` and each as large as its kind.

    Together they are the whole text.
    """
    yield from _cut(text, 0, len(text), size, (_PARAGRAPH, _SENTENCE, _WORD))


def packed(spans: Iterable[Span], size: int = SIZE) -> Iterator[Span]:
    """Yield neighbouring pieces together, as many as `size` allows."""
    begin = end = 0
    for first, last in spans:
        if last - begin > size and end > begin:
            yield begin, end
            begin = first
        end = last
    if end > begin:
        yield begin, end


def _cut(text: str, begin: int, end: int, size: int, kinds: tuple[regex.Pattern[str], ...]) -> Iterator[Span]:
    if end - begin <= size:
        if end > begin:
            yield begin, end
        return
    if not kinds:
        yield from _cut_characters(text, begin, end, size)
        return
    start = begin
    for found in kinds[0].finditer(text, begin, end):
        yield from _cut(text, start, found.end(), size, kinds[1:])
        start = found.end()
    yield from _cut(text, start, end, size, kinds[1:])


def _cut_characters(text: str, begin: int, end: int, size: int) -> Iterator[Span]:
    """Cut between what readers see as characters; only one that is longer than a whole part is cut itself."""
    start = begin
    position = begin
    for found in _CHARACTER.finditer(text, begin, end):
        if found.end() - start > size and position > start:
            yield start, position
            start = position
        while found.end() - start > size:
            yield start, start + size
            start += size
        position = found.end()
    if end > start:
        yield start, end
