"""Messages that wait for what a plugin is finding out: each goes on when it is released, or by the clock."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Final

EARLY: Final = 1_000
"""At most so many releases are kept of messages that do not wait yet."""


class Holds:
    """Who waits. A release that comes before the wait has begun counts all the same."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[str, str], asyncio.Event] = {}
        self._early: OrderedDict[tuple[str, str], None] = OrderedDict()

    def release(self, platform: str, event_id: str) -> None:
        """Let a held message go on now: `resolve_speaker` is asked about it again."""
        key = (platform, event_id)
        if (waits := self._waiting.get(key)) is not None:
            waits.set()
            return
        self._early[key] = None
        self._early.move_to_end(key)
        while len(self._early) > EARLY:
            self._early.popitem(last=False)

    async def wait(self, platform: str, event_id: str, seconds: float) -> None:
        """Return when the message is released, at the latest after some seconds."""
        key = (platform, event_id)
        if key in self._early:
            del self._early[key]
            return
        waits = self._waiting[key] = asyncio.Event()
        try:
            async with asyncio.timeout(seconds):
                await waits.wait()
        except TimeoutError:
            return
        finally:
            if self._waiting.get(key) is waits:
                del self._waiting[key]
