"""The shapes that a picture is made of. All numbers are pixels."""

from dataclasses import dataclass
from html import escape

from tests.screens.measure import width

SANS = "Helvetica, Arial, 'Liberation Sans', sans-serif"
MONO = "Menlo, Consolas, 'Liberation Mono', monospace"


@dataclass(frozen=True, slots=True)
class Font:
    """How a text looks."""

    size: float = 15
    colour: str = "#dbdee1"
    bold: bool = False
    italic: bool = False
    mono: bool = False
    strike: bool = False
    underline: bool = False

    def width(self, text: str) -> float:
        return width(text, self.size, bold=self.bold, mono=self.mono)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A part of a picture, and how high it is."""

    height: float
    shapes: tuple[str, ...] = ()
    width: float = 0


def number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def text(x: float, y: float, words: str, font: Font) -> str:
    """One line of text with its baseline at y; as wide as it was measured, whatever font is there."""
    looks = f'font-size="{number(font.size)}" fill="{font.colour}"'
    if font.mono:
        looks += f' font-family="{MONO}"'
    if font.bold:
        looks += ' font-weight="bold"'
    if font.italic:
        looks += ' font-style="italic"'
    lines = " ".join(name for name, on in (("line-through", font.strike), ("underline", font.underline)) if on)
    if lines:
        looks += f' text-decoration="{lines}"'
    fitted = f'textLength="{number(font.width(words))}" lengthAdjust="spacingAndGlyphs"'
    return f'<text x="{number(x)}" y="{number(y)}" {looks} {fitted} xml:space="preserve">{escape(words)}</text>'


def box(x: float, y: float, w: float, h: float, fill: str, *, radius: float = 0, stroke: str = "") -> str:
    rounded = f' rx="{number(radius)}"' if radius else ""
    edge = f' stroke="{stroke}"' if stroke else ""
    size = f'width="{number(w)}" height="{number(h)}"'
    return f'<rect x="{number(x)}" y="{number(y)}" {size} fill="{fill}"{rounded}{edge}/>'


def circle(x: float, y: float, radius: float, fill: str) -> str:
    return f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" fill="{fill}"/>'


def path(line: str, stroke: str) -> str:
    return f'<path d="{line}" fill="none" stroke="{stroke}" stroke-width="2"/>'


def document(title: str, w: float, h: float, background: str, shapes: tuple[str, ...]) -> str:
    """A whole picture; `title` says to those who cannot see it what it shows."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{number(w)}" height="{number(h)}" '
        f'viewBox="0 0 {number(w)} {number(h)}" role="img" font-family="{SANS}">'
    )
    return "\n".join(
        (head, f"<title>{escape(title)}</title>", box(0, 0, w, h, background, radius=8), *shapes, "</svg>", "")
    )
