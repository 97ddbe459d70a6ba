"""How wide text is in a sans-serif font, without any font: the widths of Helvetica, which others are made to fit."""

import unicodedata

_FIRST = 32
# fmt: off
_WIDTHS = (
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778,
    722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278,
    278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
)
# fmt: on
"""Thousandths of the font's size, from the space to the tilde."""
_OTHER, _WIDE = 556, 1000
_BOLD = 1.06
_MONO = 0.6


def width(text: str, size: float, *, bold: bool = False, mono: bool = False) -> float:
    """Return the width of a line in pixels."""
    if mono:
        return sum(2 if _is_wide(each) else 1 for each in text) * size * _MONO
    return sum(map(_units, text)) / 1000 * size * (_BOLD if bold else 1)


def _units(sign: str) -> int:
    place = ord(sign) - _FIRST
    if 0 <= place < len(_WIDTHS):
        return _WIDTHS[place]
    if unicodedata.combining(sign):
        return 0
    return _WIDE if _is_wide(sign) else _OTHER


def _is_wide(sign: str) -> bool:
    return unicodedata.east_asian_width(sign) in {"W", "F"}
