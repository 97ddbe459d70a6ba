"""Reading back whether a message was posted, of which no answer came."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from agent import logs
from agent.bridge import Sent
from agent.relaying.mouthpiece import Voiced
from bridges.discord.bodies import nonce_of, own_body, persona_body
from bridges.discord.early import snowflake_at
from bridges.discord.names import NEUTRAL
from bridges.discord.places import PLATFORM

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Mapping

    from agent.bridge import BridgeHost, OutgoingMessage
    from bridges.discord.guilds import Guilds
    from bridges.discord.reading import Reading

log = logs.get_logger(__name__)

_EARLIER: Final = timedelta(minutes=1)
"""How far Discord's clock may be behind."""
_PAGE: Final = 100
_MOST_PAGES: Final = 10


class NotReadable(Exception):
    """The history does not tell whether a message was posted."""


class Finding:
    """Looks for a message in the history of its channel."""

    def __init__(self, guilds: Guilds, reading: Reading, host: BridgeHost) -> None:
        self._guilds = guilds
        self._reading = reading
        self._host = host

    async def find(self, message: OutgoingMessage) -> Sent | None:
        """Return a message that stands in its channel and is no other one that is known; None when it does not.

        Raises:
            NotReadable: its channel may not be read, or too much was said since then.
            nextcord.HTTPException: Discord refuses the history.
        """
        allowed = self._guilds.permissions(int(message.channel.external_id))
        if allowed is not None and not allowed.read_message_history:
            raise NotReadable("the history may not be read")
        bodies = [own_body(message), own_body(message, embeds=False)]
        if message.persona_name is not None:
            bodies.append(persona_body(message, username=NEUTRAL))
        nonce = nonce_of(message.key)
        found = [
            str(each["id"])
            async for each in self._since(message)
            if self._is_own(each) and (each.get("nonce") == nonce or any(_says(each, body, message) for body in bodies))
        ]
        others = {
            *await self._host.own_messages(PLATFORM, found),
            *await self._host.relayed(message.server, found),
        }
        return next((Sent(message_id) for message_id in found if message_id not in others), None)

    async def find_words(self, message: OutgoingMessage, quote: str, known: Collection[str]) -> Voiced | None:
        """Return what a webhook said for somebody from elsewhere, and no message that is known; None: it is not there.

        Raises:
            NotReadable: its channel may not be read, or too much was said since then.
            nextcord.HTTPException: Discord refuses the history.
        """
        allowed = self._guilds.permissions(int(message.channel.external_id))
        if allowed is not None and not allowed.read_message_history:
            raise NotReadable("the history may not be read")
        body = persona_body(message, username=NEUTRAL, quote=quote)
        found = {
            str(each["id"]): str(each["webhook_id"])
            async for each in self._since(message)
            if each.get("webhook_id") and self._is_own(each) and _says(each, body, message)
        }
        others = {*known, *await self._host.own_messages(PLATFORM, list(found))}
        return next((Voiced(each, webhook) for each, webhook in found.items() if each not in others), None)

    def _is_own(self, message: Mapping[str, Any]) -> bool:
        webhook_id = message.get("webhook_id")
        if webhook_id is not None:
            return self._guilds.is_own_webhook(str(webhook_id))
        return int(message["author"]["id"]) == self._guilds.agent_id

    async def _since(self, message: OutgoingMessage) -> AsyncIterator[Mapping[str, Any]]:
        channel = int(message.channel.external_id)
        if message.made_at is None:
            for each in await self._reading.payloads(channel, _PAGE):
                yield each
            return
        after = snowflake_at(message.made_at - _EARLIER)
        for _ in range(_MOST_PAGES):
            page = await self._reading.payloads(channel, _PAGE, after=after)
            for each in page:
                yield each
            if len(page) < _PAGE:
                return
            after = int(page[-1]["id"])
        raise NotReadable("too much was said since then")


def _says(found: Mapping[str, Any], body: Mapping[str, Any], message: OutgoingMessage) -> bool:
    """Tell whether a message says what a body says, its embed and its file included."""
    if str(found.get("content") or "").strip() != body["content"].strip():
        return False
    if message.file is not None and message.file.name not in [
        f.get("filename") for f in found.get("attachments") or ()
    ]:
        return False
    return [_words(each) for each in body.get("embeds") or ()] == [
        _words(each) for each in found.get("embeds") or () if each.get("type", "rich") == "rich"
    ]


def _words(embed: Mapping[str, Any]) -> tuple[str, str]:
    return str(embed.get("title") or "").strip(), str(embed.get("description") or "").strip()
