"""One lock per owner within this process.

Whoever is about to lock an owner's row waits here first, before borrowing a connection: otherwise one busy owner's
writers hold the whole pool while they wait for each other, and everybody else waits with them.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from weakref import WeakValueDictionary

from agent.store.errors import DatabaseUnavailable


class OwnerLocks:
    """Locks by owner (`server:12`, `user:7`); a lock exists only while somebody holds it or waits for it.

    At most `waiting` tasks may wait for one owner; more are refused, so that a flood ends in errors and not in memory.
    """

    def __init__(self, waiting: int = 1000) -> None:
        self._waiting = waiting
        self._locks: WeakValueDictionary[str, _Counted] = WeakValueDictionary()

    def __len__(self) -> int:
        """How many owners have a lock now."""
        return len(self._locks)

    @contextlib.asynccontextmanager
    async def hold(self, *owners: str) -> AsyncIterator[None]:
        """Hold the locks of `owners`, taken in sorted order so that two holders never wait for each other.

        Raises DatabaseUnavailable when too many tasks wait already.
        """
        async with contextlib.AsyncExitStack() as stack:
            for owner in sorted(set(owners)):
                lock = self._locks.get(owner)
                if lock is None:
                    lock = self._locks[owner] = _Counted()
                if lock.waiting >= self._waiting:
                    raise DatabaseUnavailable(f"{self._waiting} changes of {owner} wait already: try again later")
                await stack.enter_async_context(lock)
            yield


class _Counted:
    """An asyncio.Lock that knows how many wait for it, and can be referred to weakly."""

    __slots__ = ("__weakref__", "_lock", "waiting")

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self.waiting = 0

    async def __aenter__(self) -> None:
        self.waiting += 1
        try:
            await self._lock.acquire()
        finally:
            self.waiting -= 1

    async def __aexit__(self, *_: object) -> None:
        self._lock.release()
