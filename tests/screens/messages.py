"""Messages with all that hangs on them, drawn below each other."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.screens import palette
from tests.screens.flow import flowing
from tests.screens.markdown import Naming, spans
from tests.screens.svg import Drawn, Font, box, circle, document, path, text
from tests.screens.views import File, Shown, Who

WIDTH = 680
_LEFT, _RIGHT = 72, 24
_GAP = 14
_BODY = Font(15, palette.TEXT)
_SMALL = Font(12.5, palette.DIM)
_NAME = Font(15, palette.BRIGHT, bold=True)
_FLAT = 2
"""The style of an ordinary button."""


def picture(title: str, messages: Iterable[Shown], naming: Naming) -> str:
    """Draw some messages as one picture."""
    height, shapes = float(_GAP), list[str]()
    for message in messages:
        drawn = _message(message, height, naming)
        height += drawn.height
        shapes += drawn.shapes
    return document(title, WIDTH, height, palette.BACKGROUND, tuple(shapes))


def face(who: Who, x: float, y: float, radius: float) -> list[str]:
    """Draw a round picture with the first letter of a name."""
    colour = palette.AGENT if who.is_app and not who.number else palette.PEOPLE[who.number % len(palette.PEOPLE)]
    letter = Font(radius, "#ffffff", bold=True)
    first = who.name[:1].upper()
    middle = x - letter.width(first) / 2
    return [circle(x, y, radius, colour), text(middle, y + radius * 0.36, first, letter)]


def _message(message: Shown, top: float, naming: Naming) -> Drawn:
    y, room, shapes = top + 6, WIDTH - _LEFT - _RIGHT, list[str]()
    for line, words in ((message.answers, ""), (message.asked, "used")):
        if line is not None:
            shapes += _above(*line, words, y, naming)
            y += 22
    shapes += [*face(message.who, 36, y + 20, 20), *_head(message, y)]
    y += 22
    for part in _parts(message, y, room, naming):
        shapes += part.shapes
        y += part.height
    height = max(y - top, 52) + _GAP
    if message.is_private:
        behind = [box(0, top, WIDTH, height - 6, palette.PRIVATE), box(0, top, 3, height - 6, palette.TAG)]
        shapes = [*behind, *shapes]
    return Drawn(height, tuple(shapes))


def _above(who: Who, words: str, verb: str, y: float, naming: Naming) -> list[str]:
    """The line above a message that says what it answers."""
    name = Font(12.5, palette.BRIGHT, bold=True)
    x, shapes = _LEFT + 20.0, [path(f"M36 {y + 16} v-6 q0 -3 3 -3 h26", palette.EDGE), *face(who, _LEFT + 8, y + 7, 8)]
    shapes.append(text(x, y + 11, who.name, name))
    x += name.width(who.name) + 6
    if verb:
        shapes.append(text(x, y + 11, verb, _SMALL))
        x += _SMALL.width(verb) + 6
    shown = "".join(span.text for span in spans(words.partition("\n")[0], naming))
    while x + _SMALL.width(shown) > WIDTH - _RIGHT:
        shown = shown.removesuffix("…")[:-1] + "…"
    colour = Font(12.5, palette.LINK) if verb else _SMALL
    return [*shapes, text(x, y + 11, shown, colour)]


def _head(message: Shown, y: float) -> list[str]:
    """The author's name, the tag of an app, and the time."""
    x, shapes = float(_LEFT), [text(_LEFT, y + 13, message.who.name, _NAME)]
    x += _NAME.width(message.who.name) + 6
    if message.who.is_app:
        tag = Font(10, "#ffffff", bold=True)
        wide = tag.width("APP") + 9
        shapes += [box(x, y + 1, wide, 15, palette.TAG, radius=3), text(x + 4.5, y + 12, "APP", tag)]
        x += wide + 7
    return [*shapes, text(x, y + 13, message.time, _SMALL)]


def _parts(message: Shown, y: float, room: float, naming: Naming) -> Iterable[Drawn]:
    if message.text:
        drawn = flowing(message.text, (_LEFT, y), room, naming, _BODY)
        yield drawn
        y += drawn.height
    if message.is_edited:
        yield Drawn(16, (text(_LEFT, y + 11, "(edited)", Font(11, palette.DIM)),))
        y += 16
    for embed in message.embeds:
        drawn = _embed(embed, y + 4, naming)
        yield drawn
        y += drawn.height
    for file in message.files:
        yield _file(file, y + 4)
        y += 58
    for row in message.rows:
        yield _buttons(row["components"], y + 6)
        y += 42
    if message.is_private:
        yield Drawn(24, (text(_LEFT, y + 18, "Only you can see this", _SMALL),))


def _embed(embed: Mapping[str, Any], y: float, naming: Naming) -> Drawn:
    """A box with a bar of its colour."""
    wide, inner = 520, 520 - 32
    x, at, shapes = _LEFT + 16, y + 10, list[str]()
    for words, font in (
        (embed.get("title"), Font(15, palette.BRIGHT, bold=True)),
        (embed.get("description"), Font(14, palette.TEXT)),
        ((embed.get("footer") or {}).get("text"), Font(12, palette.DIM)),
    ):
        if words:
            drawn = flowing(words, (x, at), inner, naming, font)
            shapes += drawn.shapes
            at += drawn.height + 4
    height = at - y + 8
    colour = f"#{embed['color']:06x}" if "color" in embed else palette.FIELD
    behind = [box(_LEFT, y, wide, height, palette.EMBED, radius=4), box(_LEFT, y, 4, height, colour, radius=2)]
    return Drawn(height + 6, (*behind, *shapes))


def _file(file: File, y: float) -> Drawn:
    size = f"{file.size} bytes" if file.size < 1024 else f"{file.size / 1024:.1f} KB"
    return Drawn(
        58,
        (
            box(_LEFT, y, 300, 50, palette.EMBED, radius=6, stroke=palette.EDGE),
            box(_LEFT + 14, y + 10, 22, 30, palette.EDGE, radius=3),
            text(_LEFT + 50, y + 22, file.name, Font(14, palette.LINK)),
            text(_LEFT + 50, y + 39, size, Font(12, palette.DIM)),
        ),
    )


def _buttons(buttons: Sequence[Mapping[str, Any]], y: float) -> Drawn:
    x, shapes, font = float(_LEFT), list[str](), Font(13.5, "#ffffff", bold=True)
    for button in buttons:
        label = str(button.get("label") or "")
        wide = font.width(label) + 30
        colour = palette.BUTTONS[int(button.get("style") or _FLAT)]
        shapes += [box(x, y, wide, 32, colour, radius=4), text(x + 15, y + 21, label, font)]
        x += wide + 8
    return Drawn(42, tuple(shapes))
