"""Telling people what could not be done: once, quietly, and where they can be reached."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import aiohttp
import nextcord
from cachetools import LRUCache, TTLCache
from nextcord.http import Route

from agent import logs
from agent.catalog import translate
from agent.identity.keys import ParticipantKind
from agent.places import ServerKind
from bridges.discord.bodies import NOBODY
from bridges.discord.escaping import escaped
from bridges.discord.refusals import MAY_NOT, code_of

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from agent.bridge import OutgoingMessage, SendFailed, State
    from bridges.discord.client import DiscordClient

log = logs.get_logger(__name__)

QUIET: Final = 3_600.0
"""Seconds in which the same trouble in the same channel is not told again."""
_PLACES: Final = 10_000
_TOLD: Final = "told-no-webhook:"
"""Before a server's id: whoever runs it was told that personas need webhooks."""


class Reporting:
    """Tells the operator's log, and by direct message whoever asked or runs a server."""

    def __init__(self, client: DiscordClient, state: State) -> None:
        self._client = client
        self._state = state
        self._told: TTLCache[tuple[str, int], bool] = TTLCache(_PLACES, QUIET)
        self._reported: LRUCache[str, bool] = LRUCache(_PLACES)
        self._tasks: set[asyncio.Task[None]] = set()

    async def stop(self) -> None:
        """Drop what was not told yet."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def undelivered(self, message: OutgoingMessage, failure: SendFailed) -> None:
        """Tell that a message was refused or given up: once an hour for each channel and reason."""
        code, channel = code_of(failure), message.channel
        if self._reported.get(message.key):
            return
        self._reported[message.key] = True
        if (channel.external_id, code) in self._told:
            return
        self._told[channel.external_id, code] = True
        log.error("channel_refuses_messages", channel=channel.external_id, reason=failure.reason)
        asker = message.asker
        if asker is None or asker.kind is not ParticipantKind.DISCORD_USER or message.server.kind is ServerKind.DIRECT:
            return
        if message.card is not None:  # a notice is no answer, and its place may be one that the asker does not know
            return
        locale, place = (
            self._locale(message),
            {"channel": escaped(channel.name), "server": escaped(message.server.name)},
        )
        if code in MAY_NOT:
            text = translate(
                locale,
                "I could not answer you in #{channel} of {server}: I lack a permission there. Whoever manages the "
                "server can give it to me.",
                **place,
            )
        else:
            text = translate(
                locale, "I could not answer you in #{channel} of {server}: Discord did not take my answer.", **place
            )
        self._begin(self._tell(asker.id, text))

    def no_webhook(self, message: OutgoingMessage) -> None:
        """Tell whoever owns a server, once, that personas speak as the agent where it may manage no webhooks."""
        log.warning("no_webhook_for_personas", server=message.server.external_id, channel=message.channel.external_id)
        self._begin(self._tell_owner(message))

    async def _tell_owner(self, message: OutgoingMessage) -> None:
        guild, key = self._guild(message), f"{_TOLD}{message.server.external_id}"
        if guild is None or guild.owner_id is None or await self._state.get(key) is not None:
            return
        await self._state.put({key: message.channel.external_id})
        text = translate(
            self._locale(message),
            "In #{channel} of {server} my personas speak under my own name, since I can have no webhook there. With "
            "the permission Manage Webhooks they get names and pictures of their own.",
            channel=escaped(message.channel.name),
            server=escaped(message.server.name),
        )
        await self._tell(str(guild.owner_id), text)

    async def _tell(self, user_id: str, text: str) -> None:
        """Write to somebody; whoever takes no messages is not told."""
        http = self._client.http
        try:
            channel = await http.request(Route("POST", "/users/@me/channels"), json={"recipient_id": user_id})
            route = Route("POST", "/channels/{channel_id}/messages", channel_id=channel["id"])
            await http.request(route, json={"content": text, "allowed_mentions": NOBODY})
        except (nextcord.HTTPException, aiohttp.ClientError, OSError) as error:
            log.info("person_not_told", user=user_id, reason=type(error).__name__)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work, name="discord report")
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("report_failed", exc_info=error)

    def _guild(self, message: OutgoingMessage) -> nextcord.Guild | None:
        server = message.server.external_id
        return self._client.get_guild(int(server)) if server.isdecimal() else None

    def _locale(self, message: OutgoingMessage) -> str:
        guild = self._guild(message)
        return str((guild.preferred_locale if guild is not None else None) or "en")
