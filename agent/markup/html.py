"""Markdown as safe HTML: only elements that are made here, and no address but of the web, of mail and of Matrix."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

type Linked = Callable[[str], tuple[str, str] | None]
"""Returns the label and the address of somebody whose id stands in a text as `<@ID>`; None leaves it a text."""

_PERSON: Final = re.compile(r"<@([^<>\s]{1,255})>")
_ADDRESS: Final = re.compile(r"(?:https?|mailto|matrix|ftp):", re.IGNORECASE)
_SPOILER: Final = "||"
_SUBTEXT: Final = re.compile(r"^-# +(?=\S)", re.MULTILINE)
_ONE: Final = re.compile(r"<p>((?:(?!<p>|</p>).)*)</p>\n?", re.DOTALL)


def nobody(_: str) -> None:
    """Link nobody."""


def to_html(text: str, linked: Linked = nobody, *, underline: bool = False) -> str:
    """Return Markdown as HTML; HTML within it stays text, and a picture becomes a link.

    Args:
        text: The text, in CommonMark with `~~strikethrough~~`, `||spoilers||` and tables; each line break counts.
        linked: Tells of whom `<@ID>` speaks.
        underline: Whether `__this__` is underlined, as in Discord, instead of bold.

    """
    environment: dict[str, Any] = {"linked": linked, "underline": underline}
    rendered: str = _parser().render(_SUBTEXT.sub("", text), environment).strip()
    alone = _ONE.fullmatch(rendered)
    return alone[1] if alone else rendered


def is_plain(html: str, text: str) -> bool:
    """Tell whether HTML says no more than the text that it was made of."""
    return html.replace("<br />\n", "\n") == escape(text, quote=True) or html == escape(text, quote=False)


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # formatted texts come long after the start

    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["strikethrough", "table"])
    parser.validateLink = _is_safe  # type: ignore[method-assign, assignment]  # the library's own way to set it
    parser.core.ruler.push("isthmus", _adapt)
    parser.add_render_rule("image", _image)
    return parser


def _is_safe(address: str) -> bool:
    return _ADDRESS.match(address) is not None


def _image(_: Any, tokens: Sequence[Token], position: int, *_options: Any) -> str:
    """Return a picture of somewhere else as a link: nothing is loaded unasked."""
    token = tokens[position]
    address = str(token.attrs.get("src", ""))
    return f'<a href="{escape(address)}">{escape(token.content or address)}</a>'


def _adapt(state: Any) -> None:
    """Give underlines, spoilers and mentions their elements."""
    for block in state.tokens:
        if block.type == "inline" and block.children:
            if state.env.get("underline"):
                _underline(block.children)
            block.children = _with_mentions(_with_spoilers(block.children), state.env["linked"])


def _underline(tokens: Sequence[Token]) -> None:
    for token in tokens:
        if token.type in {"strong_open", "strong_close"} and token.markup == "__":
            token.tag = "u"


def _with_spoilers(tokens: Sequence[Token]) -> list[Token]:
    """Return tokens with each pair of bars, at one depth of nesting, as an element."""
    pieces: list[Token] = []
    for token in tokens:
        if token.type != "text" or _SPOILER not in token.content:
            pieces.append(token)
            continue
        for number, part in enumerate(token.content.split(_SPOILER)):
            if number:
                pieces.append(_token(token, "text", _SPOILER))
            if part:
                pieces.append(_token(token, "text", part))
    opened: dict[int, int] = {}
    for position, token in enumerate(pieces):
        if token.type != "text" or token.content != _SPOILER:
            if token.nesting < 0:
                opened.pop(token.level + 1, None)
            continue
        if (start := opened.pop(token.level, None)) is None:
            opened[token.level] = position
        else:
            pieces[start] = _token(token, "html_inline", "<span data-mx-spoiler>")
            pieces[position] = _token(token, "html_inline", "</span>")
    return pieces


def _with_mentions(tokens: Sequence[Token], linked: Linked) -> list[Token]:
    pieces: list[Token] = []
    for token in tokens:
        if token.type != "text":
            pieces.append(token)
            continue
        end = 0
        for found in _PERSON.finditer(token.content):
            if (link := linked(found[1])) is None:
                continue
            label, address = link
            if token.content[end : found.start()]:
                pieces.append(_token(token, "text", token.content[end : found.start()]))
            pieces.append(_token(token, "html_inline", f'<a href="{escape(address)}">{escape(label)}</a>'))
            end = found.end()
        if end == 0:
            pieces.append(token)
        elif token.content[end:]:
            pieces.append(_token(token, "text", token.content[end:]))
    return pieces


def _token(like: Token, kind: str, content: str) -> Token:
    from markdown_it.token import Token

    return Token(kind, "", 0, content=content, level=like.level)
