"""What a message holds besides plain text, described in words: pure functions over Discord's payloads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from agent.events import Attachment
from agent.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

type Payload = Mapping[str, Any]

MOST_EXTRAS: Final = 20
"""Descriptions of one message."""
EXTRA_LIMIT: Final = 1_000
"""Characters of one description."""
_DEPTH: Final = 8
_TEXT_DISPLAY: Final = 10
_PREVIEWS: Final = frozenset({"link", "article", "video", "image", "gifv"})
"""Kinds of embeds that Discord makes of addresses in the text; only a rich one was written by somebody."""


@dataclass(frozen=True, slots=True)
class Described:
    """What a message says and what came with it."""

    text: str
    attachments: tuple[Attachment, ...] = ()
    extras: tuple[str, ...] = ()


def described(message: Payload) -> Described:
    """Return the text of a message, its files, and its embeds, stickers, poll and forwarded messages in words.

    The text of a message that consists of components (Components V2) is the text in them.
    """
    text = str(message.get("content") or "")
    components = "\n".join(_component_texts(message.get("components") or (), 0))
    if not text and components:
        text, components = components, ""
    extras = [
        *(f"embed: {words}" for embed in message.get("embeds") or () if (words := _embed(embed))),
        *(f"sticker: {sticker.get('name', '')}" for sticker in message.get("sticker_items") or ()),
        *([_poll(message["poll"])] if message.get("poll") else []),
        *([f"components: {components}"] if components else []),
        *_forwarded(message.get("message_snapshots") or ()),
    ]
    files = (*_attachments(message), *_forwarded_files(message.get("message_snapshots") or ()))
    return Described(text, files, tuple(_cut(extra) for extra in extras[:MOST_EXTRAS]))


def _attachments(message: Payload) -> Iterator[Attachment]:
    for file in message.get("attachments") or ():
        name = str(file.get("filename") or file.get("id") or "file")
        content_type = str(file.get("content_type") or "application/octet-stream").partition(";")[0]
        yield Attachment(name, content_type, int(file.get("size") or 0), str(file.get("url") or ""))


def _embed(embed: Payload) -> str:
    if embed.get("type", "rich") in _PREVIEWS:
        return one_line(" ".join(_texts(embed.get("title"), embed.get("url"))))
    author = (embed.get("author") or {}).get("name")
    fields = (f"{each.get('name', '')}: {each.get('value', '')}" for each in embed.get("fields") or ())
    footer = (embed.get("footer") or {}).get("text")
    # The address comes before whatever a page says of itself: what bears one was made of a link, and is told from what
    # a service writes.
    said = (embed.get("title"), embed.get("description"), *fields, footer)
    return "\n".join(_texts(author, embed.get("url"), *said))


def _poll(poll: Payload) -> str:
    question = (poll.get("question") or {}).get("text", "")
    answers = [str((each.get("poll_media") or {}).get("text", "")) for each in poll.get("answers") or ()]
    return f"poll: {question}\n" + "\n".join(f"- {answer}" for answer in answers)


def _forwarded(snapshots: Sequence[Payload]) -> Iterator[str]:
    for snapshot in snapshots:
        inner = described(snapshot.get("message") or {})
        yield "forwarded: " + "\n".join(_texts(inner.text, *inner.extras))


def _forwarded_files(snapshots: Sequence[Payload]) -> Iterator[Attachment]:
    """Yield the files of forwarded messages: they can be loaded, and pictures be seen, as if they were its own."""
    for snapshot in snapshots:
        yield from described(snapshot.get("message") or {}).attachments


def _component_texts(components: Iterable[Payload], depth: int) -> Iterator[str]:
    """Yield the texts of components, those within containers, sections and rows too."""
    if depth > _DEPTH:
        return
    for component in components:
        if component.get("type") == _TEXT_DISPLAY and component.get("content"):
            yield str(component["content"])
        yield from _component_texts(component.get("components") or (), depth + 1)


def _texts(*values: object) -> list[str]:
    return [str(value) for value in values if value]


def _cut(text: str) -> str:
    return text if len(text) <= EXTRA_LIMIT else text[: EXTRA_LIMIT - 1] + "…"
