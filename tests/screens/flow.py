"""Text that flows: lines of spans, wrapped to a width and drawn."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tests.screens import palette
from tests.screens.markdown import Kind, Line, Look, Naming, Span, lines
from tests.screens.svg import Drawn, Font, box, text

_WORDS = re.compile(r"\s+|\S+")
_LEAD = 1.4
"""The height of a line, in the font's size."""
_INDENT = 18

type Row = list[tuple[Span, Font]]


def flowing(words: str, at: tuple[float, float], width: float, naming: Naming, font: Font) -> Drawn:
    """Draw a text from its upper left corner on."""
    x, y = at
    height, shapes = 0.0, list[str]()
    for line in lines(words, naming):
        drawn = _line(line, x, y + height, width, _font_of(line, font))
        height += drawn.height
        shapes += drawn.shapes
    return Drawn(height, tuple(shapes))


def _font_of(line: Line, font: Font) -> Font:
    match line.kind:
        case Kind.SMALL:
            return replace(font, size=font.size - 2.5, colour=palette.DIM)
        case Kind.HEADING:
            return replace(font, size=font.size + 3, bold=True)
        case Kind.CODE:
            return replace(font, size=font.size - 2, mono=True)
        case _:
            return font


def _line(line: Line, x: float, y: float, width: float, font: Font) -> Drawn:
    left = x + (_INDENT if line.mark or line.kind in {Kind.QUOTE, Kind.CODE} else 0)
    rows = list(_rows(line.spans, width - (left - x), font)) or [[]]
    tall = font.size * _LEAD
    shapes: list[str] = []
    if line.kind is Kind.CODE:
        shapes.append(box(x, y, width, tall * len(rows), palette.CODE))
    if line.kind is Kind.QUOTE:
        shapes.append(box(x, y, 4, tall * len(rows), palette.EDGE, radius=2))
    if line.mark:
        shapes.append(text(x + 2, y + tall - font.size * 0.4, line.mark, font))
    for number, row in enumerate(rows):
        shapes += _row(row, left, y + tall * number, tall, plain=line.kind is Kind.CODE)
    return Drawn(tall * len(rows), tuple(shapes))


def _row(row: Row, x: float, y: float, tall: float, *, plain: bool) -> Iterator[str]:
    for span, font in row:
        wide = font.width(span.text)
        if span.look.chip or (span.look.code and not plain):
            yield box(x - 2, y + 1, wide + 4, tall - 2, palette.CHIP if span.look.chip else palette.CODE, radius=3)
        yield text(x, y + tall - font.size * 0.4, span.text, font)
        x += wide


def _rows(spans: Sequence[Span], width: float, font: Font) -> Iterator[Row]:
    """Wrap at spaces; what is wider than a whole row is broken anywhere."""
    row: Row = []
    used = 0.0
    for span in spans:
        looks = _looks(span.look, font)
        for word in _pieces(span, looks, width):
            wide = looks.width(word)
            if row and used + wide > width and not word.isspace():
                yield _trimmed(row)
                row, used = [], 0.0
            if word.isspace() and not row:
                continue
            row.append((Span(word, span.look), looks))
            used += wide
    if row:
        yield _trimmed(row)


def _pieces(span: Span, font: Font, width: float) -> Iterator[str]:
    if span.look.chip:
        yield span.text
        return
    for word in _WORDS.findall(span.text):
        while font.width(word) > width and len(word) > 1:
            fits = max(1, sum(font.width(word[: end + 1]) <= width for end in range(len(word))))
            yield word[:fits]
            word = word[fits:]  # noqa: PLW2901 - the rest of the word goes round again
        yield word


def _trimmed(row: Row) -> Row:
    """Join the words of a row that look the same, without the spaces at its end."""
    made: Row = []
    for span, font in row:
        if made and made[-1][0].look == span.look and not span.look.chip:
            made[-1] = (Span(made[-1][0].text + span.text, span.look), font)
        else:
            made.append((span, font))
    if made and not made[-1][0].look.chip:
        made[-1] = (Span(made[-1][0].text.rstrip(), made[-1][0].look), made[-1][1])
    return made


def _looks(look: Look, font: Font) -> Font:
    colour = palette.CHIP_TEXT if look.chip else palette.LINK if look.link else font.colour
    return replace(
        font,
        colour=colour,
        bold=font.bold or look.bold,
        italic=font.italic or look.italic,
        strike=font.strike or look.strike,
        underline=font.underline or look.underline,
        mono=font.mono or look.code,
        size=font.size - (1.5 if look.code and not font.mono else 0),
    )
