"""What opens above the chat: forms, and the menu of a message or a person."""

from collections.abc import Sequence

from tests.screens import palette
from tests.screens.flow import flowing
from tests.screens.svg import Font, box, document, text
from tests.screens.views import Dialog

WIDTH = 480
_MARGIN = 24
_HIGH = 96
"""The height of a field for a long text."""


def form(title: str, dialog: Dialog) -> str:
    """Draw a form with its fields and buttons."""
    y, inner = 28.0, WIDTH - 2 * _MARGIN
    shapes = [text(_MARGIN, y + 14, dialog.title, Font(20, palette.BRIGHT, bold=True))]
    y += 40
    for field in dialog.fields:
        shapes.append(text(_MARGIN, y + 13, field.label, Font(15, palette.BRIGHT, bold=True)))
        y += 22
        if field.description:
            shapes.append(text(_MARGIN, y + 12, field.description, Font(13, palette.DIM)))
            y += 22
        written = flowing(field.text, (_MARGIN + 12, y + 8), inner - 24, lambda sign, number: sign + number, Font(15))
        high = max(_HIGH, written.height + 18)
        shapes += [box(_MARGIN, y, inner, high, palette.FIELD, radius=4, stroke=palette.EDGE), *written.shapes]
        y += high + 18
    label = Font(14, "#ffffff", bold=True)
    x = WIDTH - _MARGIN - 96.0
    for words, colour in (("Submit", palette.BUTTONS[1]), ("Cancel", palette.BUTTONS[2])):
        middle = x + (96 - label.width(words)) / 2
        shapes += [box(x, y, 96, 36, colour, radius=4), text(middle, y + 23, words, label)]
        x -= 108
    return document(title, WIDTH, y + 36 + 20, palette.BACKGROUND, tuple(shapes))


def menu(title: str, entries: Sequence[str], chosen: str) -> str:
    """Draw the entries that Discord offers for an app, one of them under the pointer."""
    y, wide, shapes = 12.0, 280, list[str]()
    for entry in entries:
        if entry == chosen:
            shapes.append(box(8, y, wide - 16, 32, palette.TAG, radius=4))
        shapes.append(text(20, y + 21, entry, Font(14, "#ffffff" if entry == chosen else palette.TEXT)))
        y += 34
    return document(title, wide, y + 10, palette.FIELD, tuple(shapes))
