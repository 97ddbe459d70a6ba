"""A notice whose button was pressed is drawn anew, so that nobody presses it again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import aiohttp
import nextcord
from nextcord.http import Route

from agent import logs
from bridges.discord.cards import has_undo, undone

if TYPE_CHECKING:
    from bridges.discord.client import DiscordClient
    from bridges.discord.commands.asked import Asked

log = logs.get_logger(__name__)

_MESSAGE: Final = "/channels/{channel_id}/messages/{message_id}"


class Redrawing:
    """Changes notices."""

    def __init__(self, client: DiscordClient) -> None:
        self._client = client

    async def undone(self, asked: Asked) -> None:
        """Let a notice say that it was taken back, where the button that was pressed does that."""
        message = asked.message
        if message is None or asked.asked_first is not None or asked.is_shown_to_one:
            return
        if not has_undo(message, str(asked.data.get("custom_id") or "")):
            return
        route = Route("PATCH", _MESSAGE, channel_id=asked.channel_id, message_id=message["id"])
        try:
            await self._client.http.request(route, json=undone(message, asked.server_locale))
        except (nextcord.HTTPException, aiohttp.ClientError, OSError) as error:
            log.info("notice_not_redrawn", message_id=str(message["id"]), reason=type(error).__name__)
