"""What is said in a channel, as a room shows it. Pure functions."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.markup.html import is_plain, to_html
from bridges.matrix.rules.outgoing import edit_of, fitting, relation

__all__ = ["content_of", "edit_of", "file_content", "mentions_of", "relation"]

type Content = dict[str, Any]
type Person = Callable[[str], tuple[str, str] | None]
"""Returns the name and the Matrix user of somebody whose id stands in a text as `<@ID>`."""

_PERSON: Final = re.compile(r"<@!?([^<>\s&#!]{1,255})>")
_KINDS: Final = {"image": "m.image", "video": "m.video", "audio": "m.audio"}


def content_of(text: str, extras: Sequence[str], forms: Mapping[str, str], person: Person) -> Content:
    """Return a message as the content of an event, without what it relates to and whom it mentions.

    Args:
        text: What was said, in Discord's Markdown.
        extras: What came with it, in words.
        forms: How roles, channels and the like are called, by the form in which the text holds them.
        person: Tells of whom `<@ID>` speaks.

    """
    for form, name in forms.items():
        if not _PERSON.fullmatch(form):
            text = text.replace(form, name)
    text = _PERSON.sub(lambda found: f"<@{found[1]}>", text)

    def linked(identifier: str) -> tuple[str, str] | None:
        found = person(identifier)
        return None if found is None else (f"@{found[0]}", f"https://matrix.to/#/{quote(found[1], safe='@:')}")

    def named(found: re.Match[str]) -> str:
        who = person(found[1])
        return f"@{who[0]}" if who is not None else "@someone"

    body = _PERSON.sub(named, text)
    known = _PERSON.sub(lambda found: found[0] if person(found[1]) else "@someone", text)
    formatted = to_html(known, linked, underline=True)
    lines = [line for extra in extras for line in extra.splitlines()]
    if lines:
        body = "\n".join([*([body] if body else []), *(f"> {line}" for line in lines)])
        formatted += f"<blockquote>{'<br />'.join(map(html.escape, lines))}</blockquote>"
    content: Content = {"msgtype": "m.text", "body": body}
    if not is_plain(formatted, body):
        content |= {"format": "org.matrix.custom.html", "formatted_body": formatted}
    return fitting(content)


def mentions_of(keys: Sequence[ParticipantKey], answered: str | None) -> Content:
    """Return whom a message pings in the room: those of Matrix whom it names, and whom it answers."""
    ids = [key.id for key in keys if key.kind is ParticipantKind.MATRIX_USER]
    ids = list(dict.fromkeys([*ids, *([answered] if answered else [])]))
    return {"user_ids": ids} if ids else {}


def file_content(name: str, content_type: str, size: int, address: str) -> Content:
    """Return the content that shows an uploaded file."""
    kind = _KINDS.get(content_type.partition("/")[0], "m.file")
    return {
        "msgtype": kind,
        "body": name,
        "filename": name,
        "url": address,
        "info": {"mimetype": content_type, "size": size},
    }
