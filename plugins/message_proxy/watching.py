"""What this process has in mind: who uses which service, where it was seen, and which originals wait."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from agent.clock import Clock
    from agent.events import MessageCreated
    from plugins.message_proxy.repository import ProxyRepository, Spot
    from plugins.message_proxy.values import Instance

CHANNELS_KEPT: Final = timedelta(days=30)
NOTED_AGAIN: Final = timedelta(days=1)
"""How often the same thing about a channel is written down."""
MOST_ORIGINALS: Final = 1_000

type Where = tuple[str, str]
"""Platform and channel."""


def where(event: MessageCreated) -> Where:
    """Return the channel of a message."""
    return event.platform, event.channel.external_id


@dataclass(slots=True)
class Original:
    """A message that waits for its repost in this process."""

    event: MessageCreated
    began: float
    """Seconds of the monotonic clock."""
    instances: frozenset[int]


@dataclass(slots=True)
class Watching:
    """Loaded at start and kept up to date; where a claim is made the database is asked."""

    repository: ProxyRepository
    clock: Clock
    users: dict[int, frozenset[int]] = field(default_factory=dict)
    """Instance ids by account id: whoever is not in it costs nothing more than this look."""
    servers: set[int] = field(default_factory=set)
    """Where an identity has spoken: elsewhere nobody is looked for among them."""
    seen: set[Spot] = field(default_factory=set)
    expecting: set[Spot] = field(default_factory=set)
    originals: OrderedDict[tuple[str, str], Original] = field(default_factory=OrderedDict)
    _noted: dict[tuple[str, Spot], datetime] = field(default_factory=dict)
    _news: dict[Where, asyncio.Event] = field(default_factory=dict)

    async def load(self) -> None:
        """Read what is known."""
        await self.load_users()
        self.servers = set(await self.repository.servers())
        seen, expecting = await self.repository.channels(self.clock.now() - CHANNELS_KEPT)
        self.seen, self.expecting = set(seen), set(expecting)

    async def load_users(self) -> None:
        """Read who uses which service."""
        self.users = await self.repository.choices()

    async def note_seen(self, event: MessageCreated, instance: Instance) -> None:
        """Keep that a service was seen in the channel of a message."""
        spot = (*where(event), instance.instance_id)
        self.seen.add(spot)
        if self._is_news("seen", spot):
            await self.repository.note_seen(spot, self.clock.now())

    async def note_expected(self, event: MessageCreated, instance_id: int) -> None:
        """Keep that somebody who uses a service has spoken in the channel of a message."""
        spot = (*where(event), instance_id)
        self.expecting.add(spot)
        if self._is_news("expected", spot):
            await self.repository.note_expected(spot, self.clock.now())

    def is_seen(self, event: MessageCreated, instance_ids: frozenset[int]) -> bool:
        """Tell whether one of some services was seen in the channel of a message."""
        return any((*where(event), each) in self.seen for each in instance_ids)

    def waits(self, event: MessageCreated) -> Original | None:
        """Return the message as it waits here; None when it does not."""
        return self.originals.get((event.platform, event.message_id))

    def begin(self, event: MessageCreated, instances: frozenset[int]) -> None:
        """Let a message wait."""
        self.originals[event.platform, event.message_id] = Original(event, self.clock.monotonic(), instances)
        while len(self.originals) > MOST_ORIGINALS:
            self.originals.popitem(last=False)

    def end(self, platform: str, message_id: str) -> Original | None:
        """Let a message wait no longer."""
        return self.originals.pop((platform, message_id), None)

    def tell(self, event: MessageCreated) -> None:
        """Wake those who wait for news of a channel."""
        if (news := self._news.pop(where(event), None)) is not None:
            news.set()

    async def news(self, event: MessageCreated, seconds: float) -> None:
        """Return when there is news of the channel of a message, at the latest after some seconds."""
        news = self._news.setdefault(where(event), asyncio.Event())
        try:
            async with asyncio.timeout(seconds):
                await news.wait()
        except TimeoutError:
            return

    def _is_news(self, what: str, spot: Spot) -> bool:
        now, last = self.clock.now(), self._noted.get((what, spot))
        if last is not None and now - last < NOTED_AGAIN:
            return False
        self._noted[what, spot] = now
        return True
