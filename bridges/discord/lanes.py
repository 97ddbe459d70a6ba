"""Work in order within a channel, side by side across channels, and bounded."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

from agent import logs

log = logs.get_logger(__name__)

BOUND: Final = 1_000
"""Pieces of work that may wait in one lane; what comes on top is refused and counted by the caller."""


class Lanes:
    """One lane for each key; a lane that is empty costs nothing."""

    def __init__(self, bound: int = BOUND) -> None:
        self._bound = bound
        self._waiting: dict[int, deque[Callable[[], Awaitable[None]]]] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def put(self, key: int, work: Callable[[], Awaitable[None]]) -> bool:
        """Do something when everything before it in its lane is done; False when the lane is full."""
        waiting = self._waiting.setdefault(key, deque())
        if len(waiting) >= self._bound:
            return False
        waiting.append(work)
        if key not in self._tasks:
            self._tasks[key] = asyncio.create_task(self._run(key), name=f"discord lane {key}")
        return True

    async def idle(self) -> None:
        """Return when nothing waits."""
        while self._tasks:
            await asyncio.wait(set(self._tasks.values()))

    async def stop(self) -> None:
        """Drop what waits."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # A task that is cancelled before its first step leaves nothing tidy.
        self._tasks.clear()
        self._waiting.clear()

    async def _run(self, key: int) -> None:
        waiting = self._waiting[key]
        try:
            while waiting:
                work = waiting.popleft()
                try:
                    await work()
                except Exception:
                    log.exception("event_not_taken", channel=key)
        finally:
            del self._tasks[key], self._waiting[key]
