"""What was said while nobody listened: fetched from the history after a session that could not go on."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import aiohttp
import nextcord

from agent import logs
from agent.store.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
MOST_PAGES: Final = 10
"""Requests for the history of one channel, of a hundred messages each."""
MOST_DIRECT: Final = 1_000
"""Direct conversations that are looked into, the latest first: Discord does not say where something was said."""
_TRIES: Final = 3
_PAUSE: Final = 1.0
"""Seconds until the history is asked for again that Discord could not give."""
_CHANNEL: Final = "heard:channel:"
_DIRECT: Final = "heard:direct:"
_DISCORD_EPOCH: Final = 1_420_070_400


@dataclass(frozen=True, slots=True)
class _Gap:
    """Where something may have been missed."""

    channel_id: int
    guild_id: int | None
    """None for a direct conversation."""
    since: int
    """The last message that was heard."""


class Missed:
    """Knows how far each channel was heard, across restarts, and fetches what came after."""

    def __init__(self, client: DiscordClient, reading: Reading, incoming: Incoming, lanes: Lanes, clock: Clock) -> None:
        self._client = client
        self._reading = reading
        self._incoming = incoming
        self._lanes = lanes
        self._clock = clock
        self._state: State | None = None
        self._channels: dict[int, int] = {}
        self._direct: dict[int, int] = {}
        self._changed: set[int] = set()
        self._begun: dict[int, dict[int, int]] = {}
        """How far everything was heard when the session of a shard began whose gaps are not known yet."""
        self._open: dict[int, _Gap] = {}
        """What is still to be fetched, by channel: until then a channel counts as heard up to its gap."""
        self._writing: asyncio.Task[None] | None = None

    async def start(self, state: State) -> None:
        """Read how far each channel was heard before this start."""
        self._state = state
        self._channels = _numbers(await state.below(_CHANNEL), _CHANNEL)
        self._direct = _numbers(await state.below(_DIRECT), _DIRECT)
        self._incoming.heard, self._incoming.overrun = self.heard, self.overrun
        self._writing = asyncio.create_task(self._keep_writing(), name="discord heard")

    async def stop(self) -> None:
        """Write down how far each channel was heard."""
        if self._writing is not None:
            self._writing.cancel()
            await asyncio.gather(self._writing, return_exceptions=True)
            await self._write()

    def heard(self, message: Mapping[str, Any]) -> None:
        """Note that a message was taken."""
        channel_id, message_id = int(message["channel_id"]), int(message["id"])
        noted = self._channels if message.get("guild_id") else self._direct
        if message_id > noted.get(channel_id, 0):
            noted[channel_id] = message_id
            self._changed.add(channel_id)

    def overrun(self, message: Mapping[str, Any]) -> None:
        """Note that there was no room for a message: it is fetched when there is."""
        channel_id, guild_id = int(message["channel_id"]), message.get("guild_id")
        gap = _Gap(channel_id, int(guild_id) if guild_id else None, int(message["id"]) - 1)
        self._open.setdefault(channel_id, gap)

    def begin(self, shard_id: int) -> None:
        """Note that a session begins: what is heard from now on says nothing about what came before."""
        self._begun.setdefault(shard_id, {**self._channels, **self._direct})

    def catch_up(self, shard_id: int) -> None:
        """Fetch what was said in the guilds of a shard, and in direct messages, since they were last heard."""
        if (before := self._begun.pop(shard_id, None)) is None:
            return
        for gap in self._gaps(shard_id, before):
            self._fetch_in_turn(self._open.setdefault(gap.channel_id, gap))

    def _gaps(self, shard_id: int, before: Mapping[int, int]) -> Iterator[_Gap]:
        horizon = self._horizon()
        for guild in self._client.guilds:
            if guild.shard_id != shard_id:
                continue
            for channel in (*guild.channels, *guild.threads):
                last = getattr(channel, "last_message_id", None)
                since = max(before.get(channel.id, 0), horizon)
                if last is not None and last > since and _is_readable(channel):
                    yield _Gap(channel.id, guild.id, since)
        if shard_id == 0:  # direct messages come to the first shard
            for channel_id in self._latest_direct():
                yield _Gap(channel_id, None, max(before.get(channel_id, 0), horizon))

    def _horizon(self) -> int:
        """Return the message before which nothing is answered any more."""
        return int((self._clock.now() - WITHIN).timestamp() - _DISCORD_EPOCH) * 1000 << 22

    def _latest_direct(self) -> list[int]:
        return sorted(self._direct, key=self._direct.__getitem__, reverse=True)[:MOST_DIRECT]

    def _fetch_in_turn(self, gap: _Gap) -> None:
        self._lanes.put(gap.channel_id, partial(self._fetch, gap))  # where it is full, it is tried again

    async def _fetch(self, gap: _Gap) -> None:
        """Bring what was missed; what comes meanwhile waits in the same lane, so that the order is kept."""
        if self._open.get(gap.channel_id) != gap:
            return  # it was queued twice
        since = gap.since
        for _ in range(MOST_PAGES):
            messages = await self._page(gap.channel_id, since)
            for message in messages:
                whole = {**message, "guild_id": str(gap.guild_id)} if gap.guild_id is not None else message
                await self._incoming.created(whole)
                since = int(message["id"])
            if messages:
                log.info("missed_messages_fetched", channel=gap.channel_id, count=len(messages))
            if len(messages) < self._reading.most:
                break
        else:
            log.warning("missed_messages_left", channel=gap.channel_id, limit=MOST_PAGES * self._reading.most)
        self._open.pop(gap.channel_id, None)

    async def _page(self, channel_id: int, since: int) -> list[Mapping[str, Any]]:
        """Return the next messages; none when they cannot be read."""
        for tries in range(1, _TRIES + 1):
            try:
                return list(await self._reading.payloads(channel_id, self._reading.most, after=since))
            except (nextcord.Forbidden, nextcord.NotFound) as error:
                log.info("missed_messages_unread", channel=channel_id, status=error.status)
                return []
            except (nextcord.HTTPException, aiohttp.ClientError, OSError) as error:
                log.warning("missed_messages_not_given", channel=channel_id, reason=type(error).__name__, tries=tries)
                await asyncio.sleep(_PAUSE)
        return []

    async def _keep_writing(self) -> None:
        while True:
            await asyncio.sleep(WRITE_EVERY)
            for gap in list(self._open.values()):
                self._fetch_in_turn(gap)
            await self._write()

    async def _write(self) -> None:
        """Note how far each channel was heard, except where something before that is still to be fetched."""
        if self._state is None or self._begun:
            return
        changed = self._changed - self._open.keys()
        self._changed -= changed
        horizon = self._horizon()
        old = [channel_id for channel_id, message_id in self._channels.items() if message_id < horizon]
        forgotten = set(self._direct) - set(self._latest_direct())
        noted = {f"{_CHANNEL}{each}": str(self._channels[each]) for each in changed & self._channels.keys()}
        noted |= {f"{_DIRECT}{each}": str(self._direct[each]) for each in changed & self._direct.keys()}
        gone = [*(f"{_CHANNEL}{each}" for each in old), *(f"{_DIRECT}{each}" for each in forgotten)]
        try:
            await self._state.put(noted)
            if gone:
                await self._state.remove(*gone)
        except StoreError as error:
            self._changed |= changed
            log.warning("heard_not_written", reason=str(error))
            return
        # Of what is older than the horizon nothing would be fetched, known or not.
        for channel_id in old:
            if self._channels[channel_id] < horizon:
                del self._channels[channel_id]
        for channel_id in forgotten:
            self._direct.pop(channel_id, None)


def _numbers(noted: Mapping[str, str], prefix: str) -> dict[int, int]:
    return {int(key.removeprefix(prefix)): int(value) for key, value in noted.items()}


def _is_readable(channel: nextcord.abc.GuildChannel | nextcord.Thread) -> bool:
    """Tell whether a channel holds messages that the agent may read; a forum's are in its threads."""
    if isinstance(channel, nextcord.ForumChannel) or (isinstance(channel, nextcord.Thread) and channel.parent is None):
        return False
    may = channel.permissions_for(channel.guild.me)
    return may.view_channel and may.read_message_history
