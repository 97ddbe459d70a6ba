"""The agent's messages as Matrix's events; pure functions."""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.text import clean, clip
from bridges.matrix.rules.markup import formatted, plain

if TYPE_CHECKING:
    from agent.bridge import OutgoingMessage
    from agent.contracts.cards import Card

type Content = dict[str, Any]

LARGEST: Final = 44_000
"""Bytes of an event's content: 65,536 of the whole event, of which encryption takes a third."""
_SHORT: Final = 300
_COMMAND: Final = re.compile(r"(?<![\w/.:<])/([a-z][a-z0-9_-]*)")
_PROFILE: Final = "com.beeper.per_message_profile"


@dataclass(frozen=True, slots=True)
class Typing:
    """How commands are typed here: elsewhere they begin with a slash, which Matrix's clients keep for themselves."""

    prefix: str
    groups: frozenset[str] = frozenset()
    """The first words of all commands."""

    def of(self, text: str) -> str:
        """Return a text with its `/memories …` as `!memories …`; slashes that begin no command stay."""
        return _COMMAND.sub(lambda found: f"{self.prefix}{found[1]}" if found[1] in self.groups else found[0], text)


def transaction_of(key: str, *more: str) -> str:
    """Return the transaction id of an idempotency key: the same on every start."""
    return hashlib.sha256("\x00".join((key, *more)).encode("utf-8", "replace")).hexdigest()[:40]


def content_of(message: OutgoingMessage, name: Callable[[str], str], typing: Typing) -> Content:
    """Return a message as the content of an `m.room.message`, without what it relates to.

    Args:
        message: The message.
        name: Gives the name of an account by its id.
        typing: How commands are typed.

    """
    if message.card is not None:
        content = _card(message.card, typing)
    else:
        content = _text(message.text, message.mentions, name)
        content["m.mentions"] = mentions_of(message.mentions)
    if message.persona_name:
        _put_profile(content, message)
    return fitting(content)


def notice_of(text: str) -> Content:
    """Return a text of the agent's own as a notice that pings nobody."""
    content = _text(text, (), str)
    return fitting({**content, "msgtype": "m.notice", "m.mentions": {}})


def edit_of(content: Content, message_id: str) -> Content:
    """Return the content of an edit; clients that know none are shown the beginning."""
    body = clip(str(content.get("body", "")), _SHORT)
    return {
        "msgtype": content["msgtype"],
        "body": f"* {body}",
        "m.mentions": {},
        "m.new_content": content,
        "m.relates_to": {"rel_type": "m.replace", "event_id": message_id},
    }


def relation(thread: str, answers: str | None) -> Content | None:
    """Return what a message relates to: the thread that it stands in, the message that it answers, or nothing."""
    if thread:
        fallback = answers is None
        return {
            "rel_type": "m.thread",
            "event_id": thread,
            "is_falling_back": fallback,
            "m.in_reply_to": {"event_id": thread if answers is None else answers},
        }
    return None if answers is None else {"m.in_reply_to": {"event_id": answers}}


def mentions_of(mentions: Sequence[ParticipantKey]) -> Content:
    """Return whom a message pings; empty for nobody, so that no rule of old servers guesses."""
    ids = [key.id for key in mentions if key.kind is ParticipantKind.MATRIX_USER]
    return {"user_ids": ids} if ids else {}


def fitting(content: Content) -> Content:
    """Return a content that an event can hold: without its HTML when that makes it too large."""
    if "formatted_body" in content and _size(content) > LARGEST:
        return {key: value for key, value in content.items() if key not in {"formatted_body", "format"}}
    return content


def _size(content: Content) -> int:
    return len(json.dumps(content, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _text(text: str, mentions: Sequence[ParticipantKey], name: Callable[[str], str]) -> Content:
    text = clean(text)
    content: Content = {"msgtype": "m.text", "body": plain(text, mentions)}
    if (shown := formatted(text, mentions, name)) is not None:
        content |= {"format": "org.matrix.custom.html", "formatted_body": shown}
    return content


def _card(card: Card, typing: Typing) -> Content:
    """Return a card as a notice; its texts are untrusted, and none of them is markup."""
    number = None if card.memory_id is None else f"ID {card.memory_id}"
    label = " · ".join(part for part in (card.about, number) if part)
    actions = [f"{action.label}: {typing.of(action.typed)}" for action in card.actions]
    told = [each for each in actions if not any(each in line for line in card.lines)]
    forgotten = [] if card.forgotten is None else [card.forgotten]
    lines = [card.title, *card.lines, *(f"- {each}" for each in forgotten), *([label] if label else []), *told]
    shown = [f"<strong>{_safe(card.title)}</strong>", *map(_safe, card.lines)]
    shown += [f"<del>{_safe(each)}</del>" for each in forgotten]
    shown += [f"<em>{_safe(each)}</em>" for each in ([label] if label else [])]
    shown += [_safe(each) for each in told]
    return {
        "msgtype": "m.notice",
        "body": "\n".join(lines),
        "format": "org.matrix.custom.html",
        "formatted_body": "<br>".join(shown),
        "m.mentions": {},
    }


def _safe(text: str) -> str:
    return html.escape(text).replace("\n", "<br>")


def _put_profile(content: Content, message: OutgoingMessage) -> None:
    """Let a persona speak under its own name (MSC4144); clients that know no profiles show it before the text."""
    name = message.persona_name or ""
    avatar = message.persona_avatar or ""
    identifier = str(message.persona_id) if message.persona_id is not None else name
    profile = {"id": f"isthmus-{identifier}", "displayname": name, "has_fallback": True}
    if avatar.startswith("mxc://"):
        profile["avatar_url"] = avatar
    shown = content.get("formatted_body") or _safe(str(content["body"]))
    content["body"] = f"{name}: {content['body']}"
    content["format"] = "org.matrix.custom.html"
    content["formatted_body"] = f"<strong data-mx-profile-fallback>{_safe(name)}: </strong>{shown}"
    content[_PROFILE] = profile
