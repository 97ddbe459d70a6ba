"""What the agent says as Discord takes it, with explicit allowed mentions always: pure functions."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any, Final

from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.identity.mentions import give_form
from bridges.discord.cards import buttons_of, embed_of, text_of
from bridges.discord.escaping import escaped
from bridges.discord.names import webhook_name

if TYPE_CHECKING:
    from agent.bridge import OutgoingMessage
    from agent.files import ReplyFile

MESSAGE_LIMIT: Final = 2_000
"""Characters of one message that a bot may send."""
PERSONA_ROOM: Final = 170
"""Characters of a persona's message that a name in front, or the link to what is answered, may take."""
NOBODY: Final = {"parse": [], "users": [], "roles": [], "replied_user": False}
"""Nobody is pinged."""
_NONCE: Final = 25
"""Characters of a nonce that Discord takes."""
_HAIR: Final = "\u200a"
"""A space that is hardly seen; after a name in front it tells that the agent has put it there."""
_PUT: Final = re.compile(
    rf"\A(?:-# ↪ https://discord\.com/channels/\d+/\d+/(?P<answered>\d+)(?: [^\n]*)?\n|\*\*[^\n]{{1,170}}\*\*{_HAIR}\n)"
)


def nonce_of(key: str) -> str:
    """Return the nonce of an idempotency key: the same key gives the same nonce, on every start."""
    return hashlib.sha256(key.encode()).hexdigest()[:_NONCE]


def mention_of(key: ParticipantKey) -> str:
    """Return how Discord writes a mention; what is no account of Discord is no mention."""
    return f"<@{key.id}>" if key.kind in {ParticipantKind.DISCORD_USER, ParticipantKind.BOT} else f"@{key.id}"


def allowed_mentions(message: OutgoingMessage) -> dict[str, Any]:
    """Return whom a message may ping: those whom it names, and never everyone or a role."""
    users = [key.id for key in message.mentions if key.kind is ParticipantKind.DISCORD_USER]
    return {**NOBODY, "users": users[:100]}


def own_body(message: OutgoingMessage, *, embeds: bool = True, refers: bool = True) -> dict[str, Any]:
    """Return a message of the agent itself, without a nonce; a persona's has the name in front.

    Args:
        message: The message.
        embeds: Whether the agent may show embeds there.
        refers: Whether the agent may refer to what is answered.

    """
    body = _body(message, embeds=embeds)
    if message.persona_name is not None and message.card is None:
        body["content"] = f"**{escaped(webhook_name(message.persona_name))}**{_HAIR}\n{body['content']}"
    if message.reply_to is not None and refers:
        body["message_reference"] = {"message_id": message.reply_to, "fail_if_not_exists": False}
    return body


def persona_body(message: OutgoingMessage, *, username: str, avatar: bool = True, quote: str = "") -> dict[str, Any]:
    """Return a message as a webhook says it; what is answered is linked, since webhooks cannot reply.

    Args:
        message: The message.
        username: The name, as Discord takes it.
        avatar: Whether the picture goes along.
        quote: What is answered, in words, to stand beside the link.

    """
    body = _body(message, embeds=True)
    if message.reply_to is not None and message.card is None:
        link = f"https://discord.com/channels/{message.server.external_id}/{message.channel.external_id}"
        line = f"-# ↪ {link}/{message.reply_to}{f' {escaped(quote)}' if quote else ''}\n"
        if len(line) + len(body["content"]) <= MESSAGE_LIMIT:
            body["content"] = line + body["content"]
    body["username"] = username
    picture = message.persona_avatar or ""
    if avatar and picture.startswith(("http://", "https://")):
        body["avatar_url"] = picture
    return body


def bare(text: str) -> tuple[str, str | None]:
    """Return what a persona said without the line in front, which names it or links what it answers, and that id."""
    found = _PUT.match(text)
    return (text, None) if found is None else (text[found.end() :], found["answered"])


def edit_of(body: dict[str, Any]) -> dict[str, Any]:
    """Return those parts of a body that an edit may have; a file of the text before goes with it."""
    kept = {key: value for key, value in body.items() if key not in {"message_reference", "username", "avatar_url"}}
    return {**kept, "attachments": []}


def as_options(body: dict[str, Any], file: ReplyFile | None) -> dict[str, Any]:
    """Return the options of nextcord's request: JSON, or a form where a file goes along."""
    if file is None:
        return {"json": body}
    payload = {**body, "attachments": [{"id": 0, "filename": file.name}]}
    return {
        "form": [
            {"name": "payload_json", "value": json.dumps(payload)},
            {"name": "files[0]", "value": file.content, "filename": file.name, "content_type": file.content_type},
        ]
    }


def _body(message: OutgoingMessage, *, embeds: bool) -> dict[str, Any]:
    card = message.card
    if card is None:
        text = give_form(message.text, message.mentions, mention_of)
        return {"content": text, "allowed_mentions": allowed_mentions(message)}
    shown: dict[str, Any] = {"content": "", "embeds": [embed_of(card)]} if embeds else {"content": text_of(card)}
    return {**shown, "components": buttons_of(card), "allowed_mentions": NOBODY}
