"""As much of Discord's Markdown as the agent and people use, read into lines of spans."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto

type Naming = Callable[[str, str], str]
"""Takes what is named (`@`, `@&`, `#`, or the kind `message`) and its id, and gives the words that stand for it."""


class Kind(Enum):
    TEXT = auto()
    HEADING = auto()
    SMALL = auto()
    QUOTE = auto()
    CODE = auto()
    """A line of a block of code."""


@dataclass(frozen=True, slots=True)
class Look:
    bold: bool = False
    italic: bool = False
    strike: bool = False
    underline: bool = False
    code: bool = False
    chip: bool = False
    """A mention."""
    link: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    text: str
    look: Look = Look()


@dataclass(frozen=True, slots=True)
class Line:
    kind: Kind
    spans: tuple[Span, ...]
    mark: str = ""
    """What stands before a point of a list."""


_TOKEN = re.compile(
    r"\\(?P<escaped>[^\w\s])"
    r"|(?P<fence>`+)(?P<code>.+?)(?P=fence)"
    r"|<(?P<sign>@&|@|#)!?(?P<id>\d+)>"
    r"|(?P<post>https://discord\.com/channels/\d+/(?P<place>\d+)/\d+)"
    r"|\[(?P<words>[^\]\n]+)\]\((?P<target>https?://[^)\s]+)\)"
    r"|(?P<url>https?://[^\s<>)]+)"
    r"|(?P<mark>\*\*|~~|__|\*|(?<!\w)_|_(?!\w))",
    re.DOTALL,
)
_MARKS = {"**": "bold", "~~": "strike", "__": "underline", "*": "italic", "_": "italic"}
_POINT = re.compile(r"(?P<mark>[-*]|\d+\.) (?P<rest>.*)")


def lines(text: str, naming: Naming) -> tuple[Line, ...]:
    """Return the lines of a text as Discord shows them."""
    return tuple(_lines(text, naming))


def _lines(text: str, naming: Naming) -> Iterator[Line]:
    in_code = False
    for line in text.split("\n"):
        if line.startswith("```"):
            in_code = not in_code
        elif in_code:
            yield Line(Kind.CODE, (Span(line, Look(code=True)),))
        else:
            yield _line(line, naming)


def _line(line: str, naming: Naming) -> Line:
    for start, kind in (("-# ", Kind.SMALL), ("> ", Kind.QUOTE), ("### ", Kind.HEADING), ("# ", Kind.HEADING)):
        if line.startswith(start):
            return Line(kind, spans(line.removeprefix(start), naming))
    if (point := _POINT.match(line)) is not None:
        return Line(Kind.TEXT, spans(point["rest"], naming), "•" if point["mark"] in "-*" else point["mark"])
    return Line(Kind.TEXT, spans(line, naming))


def spans(text: str, naming: Naming) -> tuple[Span, ...]:
    """Return the parts of one line that look the same; a mark without its other half is an ordinary sign."""
    look, made, at = Look(), list[Span](), 0
    for token in _TOKEN.finditer(text):
        made.append(Span(text[at : token.start()], look))
        at = token.end()
        if (mark := token["mark"]) is not None:
            name = _MARKS[mark]
            if getattr(look, name) or mark in text[at:]:
                look = replace(look, **{name: not getattr(look, name)})
            else:
                made.append(Span(mark, look))
        else:
            made.append(_special(token, look, naming))
    made.append(Span(text[at:], look))
    return tuple(_joined(made))


def _special(token: re.Match[str], look: Look, naming: Naming) -> Span:
    if token["escaped"] is not None:
        return Span(token["escaped"], look)
    if token["code"] is not None:
        return Span(token["code"], replace(look, code=True))
    if token["sign"] is not None:
        return Span(naming(token["sign"], token["id"]), replace(look, chip=True))
    if token["post"] is not None:
        return Span(naming("message", token["place"]), replace(look, chip=True))
    return Span(token["words"] or token["url"], replace(look, link=True))


def _joined(parts: list[Span]) -> Iterator[Span]:
    kept: Span | None = None
    for part in parts:
        if not part.text:
            continue
        if kept is not None and kept.look == part.look and not part.look.chip:
            kept = Span(kept.text + part.text, kept.look)
        else:
            if kept is not None:
                yield kept
            kept = part
    if kept is not None:
        yield kept
