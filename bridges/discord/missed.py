"""What was said while nobody listened: fetched from the history after a session that could not go on."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

import nextcord

from agent import logs
from agent.store.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent.bridge import State
    from agent.clock import Clock
    from bridges.discord.client import DiscordClient
    from bridges.discord.incoming import Incoming
    from bridges.discord.lanes import Lanes
    from bridges.discord.reading import Reading

log = logs.get_logger(__name__)

WITHIN: Final = timedelta(minutes=5)
"""What is older is not answered any more (architecture.md, Once only)."""
WRITE_EVERY: Final = 5.0
"""Seconds between two notes of how far each channel was heard; what was heard since the last one is fetched again."""
MOST: Final = 100
"""Messages of one channel that are fetched."""
_PREFIX: Final = "heard:"
_DISCORD_EPOCH: Final = 1_420_070_400


class Missed:
    """Knows how far each channel was heard, across restarts, and fetches what came after."""

    def __init__(self, client: DiscordClient, reading: Reading, incoming: Incoming, lanes: Lanes, clock: Clock) -> None:
        self._client = client
        self._reading = reading
        self._incoming = incoming
        self._lanes = lanes
        self._clock = clock
        self._state: State | None = None
        self._heard: dict[int, int] = {}
        self._changed: set[int] = set()
        self._writing: asyncio.Task[None] | None = None

    async def start(self, state: State) -> None:
        """Read how far each channel was heard before this start."""
        self._state = state
        noted = await state.below(_PREFIX)
        self._heard = {int(key.removeprefix(_PREFIX)): int(value) for key, value in noted.items()}
        self._incoming.heard = self.heard
        self._writing = asyncio.create_task(self._keep_writing(), name="discord heard")

    async def stop(self) -> None:
        """Write down how far each channel was heard."""
        if self._writing is not None:
            self._writing.cancel()
            await asyncio.gather(self._writing, return_exceptions=True)
            await self._write()

    def heard(self, channel_id: int, message_id: int) -> None:
        """Note that a message was taken."""
        if message_id > self._heard.get(channel_id, 0):
            self._heard[channel_id] = message_id
            self._changed.add(channel_id)

    async def catch_up(self, shard_id: int) -> None:
        """Fetch what was said in the guilds of a shard, and in direct messages, since they were last heard."""
        for channel_id, guild_id in self._behind(shard_id):
            self._lanes.put(channel_id, partial(self._fetch, channel_id, guild_id))

    def _behind(self, shard_id: int) -> Iterator[tuple[int, int | None]]:
        known: set[int] = set()
        for guild in self._client.guilds:
            channels = [*guild.channels, *guild.threads]
            known.update(channel.id for channel in channels)
            if guild.shard_id != shard_id:
                continue
            for channel in channels:
                last = getattr(channel, "last_message_id", None)
                if last is not None and last > self._since(channel.id):
                    yield channel.id, guild.id
        if shard_id == 0:  # direct messages come to the first shard
            yield from ((channel_id, None) for channel_id in self._heard if channel_id not in known)

    def _since(self, channel_id: int) -> int:
        """Return the message after which something may have been missed: nothing before the agent was ever there."""
        horizon = int((self._clock.now() - WITHIN).timestamp() - _DISCORD_EPOCH) * 1000 << 22
        return max(self._heard.get(channel_id, horizon), horizon)

    async def _fetch(self, channel_id: int, guild_id: int | None) -> None:
        try:
            messages = await self._reading.payloads(channel_id, MOST, after=self._since(channel_id))
        except nextcord.HTTPException as error:
            log.info("missed_messages_unread", channel=channel_id, status=error.status)
            return
        for message in messages:
            whole = {**message, "guild_id": str(guild_id)} if guild_id is not None else message
            await self._incoming.created(whole)
        if messages:
            log.info("missed_messages_fetched", channel=channel_id, count=len(messages))

    async def _keep_writing(self) -> None:
        while True:
            await asyncio.sleep(WRITE_EVERY)
            await self._write()

    async def _write(self) -> None:
        changed, self._changed = self._changed, set()
        if not changed or self._state is None:
            return
        try:
            await self._state.put({f"{_PREFIX}{channel}": str(self._heard[channel]) for channel in changed})
        except StoreError as error:
            self._changed |= changed
            log.warning("heard_not_written", reason=str(error))
