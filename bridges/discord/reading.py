"""Earlier messages of a channel, and the files that came with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import aiohttp

from agent.bridge import HistoryMessage
from agent.files import FileRefused, too_large
from bridges.discord.bodies import bare
from bridges.discord.early import moment_of
from bridges.discord.incoming import SAID
from bridges.discord.places import PLATFORM

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.bridge import BridgeHost
    from agent.events import Attachment, Author
    from agent.places import ChannelRef, ServerRef
    from bridges.discord.client import DiscordClient
    from bridges.discord.incoming import Incoming

MOST: Final = 100
"""Messages of one request."""


class Reading:
    """Reads history and files."""

    most = MOST

    def __init__(self, client: DiscordClient, incoming: Incoming, host: BridgeHost) -> None:
        self._client = client
        self._incoming = incoming
        self._host = host

    async def payloads(self, channel_id: int, limit: int, *, after: int | None = None) -> Sequence[Mapping[str, Any]]:
        """Return messages as Discord has them, oldest first: the last ones, or the first ones after an id.

        Raises:
            nextcord.HTTPException: they may not be read.
        """
        found = await self._client.http.logs_from(channel_id, min(limit, MOST), after=after)
        return sorted(found, key=lambda message: int(message["id"]))

    async def history(self, server: ServerRef, channel: ChannelRef, limit: int) -> tuple[HistoryMessage, ...]:
        """Return what people and the agent have said, oldest first."""
        if limit < 1:
            return ()
        guild_id = None if server.external_id.startswith("direct:") else server.external_id
        said = [
            {**message, "guild_id": guild_id} if guild_id else message
            for message in await self.payloads(int(channel.external_id), limit)
            if message.get("type", 0) in SAID
        ]
        own = await self._host.own_messages(PLATFORM, [str(message["id"]) for message in said])
        voiced = [str(each["id"]) for each in said if each.get("webhook_id") and str(each["id"]) not in own]
        others = await self._host.relayed(server, voiced)
        history = (
            self._read(message, is_own=str(message["id"]) in own, other=others.get(str(message["id"])))
            for message in said
        )
        # Without the intent for message content most messages come empty.
        return tuple(each for each in history if each.text or each.attachments or each.extras)

    def _read(self, message: Mapping[str, Any], *, is_own: bool, other: Author | None) -> HistoryMessage:
        content = self._incoming.described(message)
        answered = (message.get("message_reference") or {}).get("message_id")
        text, from_agent = content.text, is_own or (other is None and self._incoming.is_own(message))
        if from_agent or other is not None:
            text, linked = bare(text)
            answered = answered or linked
        return HistoryMessage(
            message_id=str(message["id"]),
            author=other or self._incoming.author(message),
            text=text,
            occurred_at=moment_of(int(message["id"])),
            from_agent=from_agent,
            reply_to=str(answered) if answered else None,
            attachments=content.attachments,
            extras=content.extras,
        )

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        """Return what a file holds, read no further than `limit`.

        Raises:
            FileRefused: it is not there any more, or larger.
        """
        try:
            async with aiohttp.ClientSession() as session, session.get(attachment.url) as response:
                if response.status != 200:  # noqa: PLR2004  # HTTP's own number
                    raise FileRefused(f"{attachment.name}: it is not there any more")
                content = await response.content.read(limit + 1)
                while len(content) <= limit and (more := await response.content.read(limit + 1 - len(content))):
                    content += more
        except (aiohttp.ClientError, OSError) as error:
            raise FileRefused(f"{attachment.name}: it cannot be read ({type(error).__name__})") from error
        if len(content) > limit:
            raise too_large(attachment.name, limit)
        return content
