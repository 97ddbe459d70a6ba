"""The agent's words as Matrix shows them: Markdown becomes HTML that holds nothing but what Markdown can say."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Final
from urllib.parse import quote

from markdown_it import MarkdownIt

from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.identity.mentions import give_form

_SCHEMES: Final = ("http://", "https://", "mailto:", "ftp://", "magnet:")
_OPEN, _CLOSE = "\ue000", "\ue001"
"""Stand around the number of a mention while Markdown is read; no text keeps them."""
_HOLE: Final = re.compile(f"{_OPEN}(\\d+){_CLOSE}")
_PARAGRAPH: Final = re.compile(r"<p>((?:(?!</?p>).)*)</p>\n?", re.DOTALL)


@cache
def _markdown() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False, "breaks": True, "linkify": False})
    reader.enable(["strikethrough", "table"])
    reader.disable("image")  # a client would fetch it from anywhere
    reader.validateLink = _is_safe  # type: ignore[method-assign, assignment]  # so it is set
    return reader


def _is_safe(address: str) -> bool:
    return address.strip().lower().startswith(_SCHEMES)


def plain(text: str, mentions: Sequence[ParticipantKey]) -> str:
    """Return a text for clients that show no HTML: people stand in it by their ids."""
    return give_form(text, mentions, _plain_mention)


def formatted(text: str, mentions: Sequence[ParticipantKey], name: Callable[[str], str]) -> str | None:
    """Return a text as HTML; None when that would say nothing more than the plain text.

    Args:
        text: The text, with mentions as `<@ID>`.
        mentions: The accounts that may be mentioned; what else looks like a mention is plain.
        name: Gives the name of an account by its id.

    """
    people: list[ParticipantKey] = []

    def hole(key: ParticipantKey) -> str:
        people.append(key)
        return f"{_OPEN}{len(people) - 1}{_CLOSE}"

    bare = text.replace(_OPEN, "").replace(_CLOSE, "")
    rendered = _markdown().render(give_form(bare, mentions, hole)).rstrip("\n")
    if (single := _PARAGRAPH.fullmatch(rendered)) is not None:
        rendered = single[1]
    if not people and rendered == html.escape(bare, quote=False).replace("\n", "<br />\n").replace('"', "&quot;"):
        return None
    return _HOLE.sub(lambda found: _link(people[int(found[1])], name), rendered)


def _link(key: ParticipantKey, name: Callable[[str], str]) -> str:
    if key.kind is not ParticipantKind.MATRIX_USER:
        return html.escape(f"@{key.id}")
    return f'<a href="https://matrix.to/#/{quote(key.id, safe="@:")}">{html.escape(name(key.id))}</a>'


def _plain_mention(key: ParticipantKey) -> str:
    return key.id if key.kind is ParticipantKind.MATRIX_USER else f"@{key.id}"
