"""What a process remembers of the database, and for which revision of its owner it is true.

Whoever reads has read the owner's revision just before, with its own first statement. What the cache holds for that
revision or a later one is as new as what the database said then; anything older is loaded again. So nothing depends
on an eviction or a notification arriving: they only free memory and begin a load earlier.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from cachetools import TTLCache

from agent.clock import Clock

type Load[V] = Callable[[], Awaitable[V]]


@dataclass(frozen=True, slots=True)
class _Entry[V]:
    revision: int
    value: V


@dataclass(frozen=True, slots=True)
class _Flight[V]:
    """A load under way: what it brings is at least as new as `revision`, which was read before it began."""

    revision: int
    task: asyncio.Task[V]


class RevisionedCache[V]:
    """Values by owner (`server:12`), each true for one revision of its owner or a later one.

    Holds at most `size` (entries, or what `weigh` adds up to) for at most `seconds`.
    """

    def __init__(self, *, size: int, seconds: float, clock: Clock, weigh: Callable[[V], int] | None = None) -> None:
        self._entries: TTLCache[str, _Entry[V]] = TTLCache(
            maxsize=size,
            ttl=seconds,
            timer=clock.monotonic,
            getsizeof=None if weigh is None else lambda entry: weigh(entry.value),
        )
        self._flights: dict[str, _Flight[V]] = {}

    def __len__(self) -> int:
        """How many values are held."""
        return len(self._entries)

    def peek(self, owner: str, revision: int) -> V | None:
        """Return what is held for this revision of the owner or a later one."""
        entry = self._entries.get(owner)
        return entry.value if entry is not None and entry.revision >= revision else None

    async def get(self, owner: str, revision: int, load: Load[V]) -> V:
        """Return the owner's value, as new as `revision` or newer; `load` it unless it is held or being loaded.

        `load` takes a connection of its own, because it may outlive a caller that is cancelled; what it raises,
        every waiting caller gets, and nothing is kept.
        """
        entry = self._entries.get(owner)
        if entry is not None and entry.revision >= revision:
            return entry.value
        return await asyncio.shield(self.loading(owner, revision, load))

    def loading(self, owner: str, revision: int, load: Load[V]) -> asyncio.Task[V]:
        """Return the load under way that brings what is as new as `revision`, started now if there is none.

        For whoever loads several owners at once. Others wait for the task too: shield it.
        """
        flight = self._flights.get(owner)
        if flight is None or flight.revision < revision:
            flight = self._start(owner, revision, load)
        return flight.task

    def evict(self, owner: str) -> None:
        """Let go of an owner's value."""
        self._entries.pop(owner, None)

    def clear(self) -> None:
        """Let go of everything."""
        self._entries.clear()

    def _start(self, owner: str, revision: int, load: Load[V]) -> _Flight[V]:
        async def fly() -> V:
            return await load()

        flight = _Flight(revision, asyncio.create_task(fly(), name=f"load {owner}"))
        self._flights[owner] = flight
        flight.task.add_done_callback(lambda _: self._land(owner, flight))
        return flight

    def _land(self, owner: str, flight: _Flight[V]) -> None:
        if self._flights.get(owner) is flight:
            del self._flights[owner]
        if flight.task.cancelled() or flight.task.exception() is not None:
            return
        entry = self._entries.get(owner)
        if entry is None or entry.revision <= flight.revision:
            with contextlib.suppress(ValueError):  # heavier than the whole cache: it is loaded each time
                self._entries[owner] = _Entry(flight.revision, flight.task.result())
