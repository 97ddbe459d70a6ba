"""The rows of owners, cached for one revision of each together with the lines that need no names."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final

from cachetools import LRUCache

from agent.cache import RevisionedCache
from agent.contracts.memory import MemoryScope
from agent.turn.values import server_owner, user_owner
from plugins.memory.rendering import plain_entries
from plugins.memory.rules import is_dormant

if TYPE_CHECKING:
    from agent.clock import Clock
    from agent.contracts.context import ContextEntry
    from plugins.memory.memory import Memory
    from plugins.memory.repository import MemoryRepository

_MEMORIES: Final = 50_000
"""Memories that are held at most, over all owners: some 40 MB of usual ones."""
_SECONDS: Final = 600.0
_HEADINGS: Final = 4
"""Headings for which one owner's lines are held: a persona or server may be renamed."""


class Remembered:
    """What is remembered of one owner in one lineage (a person's with lineage 0), oldest first."""

    __slots__ = ("_lines", "_oldest", "memories", "mentioned")

    def __init__(self, memories: Sequence[Memory]) -> None:
        self.memories = tuple(memories)
        self._lines: dict[str, tuple[ContextEntry | None, ...]] = {}
        self.mentioned = frozenset(key for memory in self.memories for key in memory.mentioned)
        """Platform ids of the people whom they mention."""
        self._oldest = min((memory.recency for memory in memories), default=None)

    def dormant(self, now: datetime, days: int) -> Sequence[int]:
        """Return the ids of those that sleep; looks at each only when one does."""
        if self._oldest is None or not is_dormant(None, self._oldest, now, days):
            return ()
        return [
            memory.memory_id
            for memory in self.memories
            if is_dormant(memory.last_reinforced_at, memory.created_at, now, days)
        ]

    def lines(self, heading: str) -> tuple[ContextEntry | None, ...]:
        """Return the entry of each memory below a heading; None where names must be put in."""
        lines = self._lines.get(heading)
        if lines is None:
            if len(self._lines) >= _HEADINGS:
                self._lines.clear()
            lines = self._lines[heading] = plain_entries(self.memories, heading)
        return lines


class RememberedCache:
    """Reads what is remembered: what is not held, in one query."""

    def __init__(self, repository: MemoryRepository, clock: Clock) -> None:
        self._repository = repository
        self._cache: RevisionedCache[Remembered] = RevisionedCache(
            size=_MEMORIES, seconds=_SECONDS, clock=clock, weigh=lambda held: len(held.memories) + 1
        )
        # Under which keys an owner is held; larger than the number of entries can be, so none is missed.
        self._keys: LRUCache[str, set[str]] = LRUCache(_MEMORIES + 1)

    async def read(
        self, revisions: Mapping[str, int], server_id: int, user_ids: Iterable[int], lineage_id: int
    ) -> dict[str, Remembered]:
        """Return what is remembered of a server and of users, by owner, true for these revisions or later ones.

        An owner without a revision is read from the database.
        """
        found: dict[str, Remembered] = {}
        missing: list[str] = []
        for owner in (server_owner(server_id), *map(user_owner, user_ids)):
            held = self._cache.peek(f"{owner}/{lineage_id}", revisions[owner]) if owner in revisions else None
            if held is None:
                missing.append(owner)
            else:
                found[owner] = held
        batch = _Batch(self._repository, missing, lineage_id)
        # All are started before one is awaited, so that they end together.
        loads = {owner: self._loading(owner, lineage_id, revisions.get(owner), batch) for owner in missing}
        for owner, task in loads.items():
            found[owner] = await (batch.part(owner) if task is None else asyncio.shield(task))
        return found

    def _loading(
        self, owner: str, lineage_id: int, revision: int | None, batch: _Batch
    ) -> asyncio.Task[Remembered] | None:
        if revision is None:
            return None
        key = f"{owner}/{lineage_id}"
        self._keys.setdefault(owner, set()).add(key)
        return self._cache.loading(key, revision, partial(batch.part, owner))

    def forget(self, owner: str) -> None:
        """Let go of what is held of an owner whose state has changed."""
        for key in self._keys.pop(owner, ()):
            self._cache.evict(key)


class _Batch:
    """One query for several owners, asked when the first of them is needed."""

    def __init__(self, repository: MemoryRepository, owners: Sequence[str], lineage_id: int) -> None:
        self._repository = repository
        self._owners = owners
        self._lineage_id = lineage_id
        self._task: asyncio.Task[dict[str, Remembered]] | None = None

    async def part(self, owner: str) -> Remembered:
        """Return what is remembered of one of the owners."""
        if self._task is None:
            self._task = asyncio.create_task(self._load(), name="load memories")
        return (await asyncio.shield(self._task))[owner]

    async def _load(self) -> dict[str, Remembered]:
        of_server: dict[int, list[Memory]] = {}
        of_users: dict[int, list[Memory]] = {}
        by_owner: dict[str, list[Memory]] = {}
        for owner in self._owners:
            kind, _, number = owner.partition(":")
            by_owner[owner] = (of_server if kind == "server" else of_users)[int(number)] = []
        rows = await self._repository.block(next(iter(of_server), None), list(of_users), self._lineage_id)
        for memory in rows:
            (of_server if memory.scope is MemoryScope.SERVER else of_users)[memory.owner_id].append(memory)
        return {owner: Remembered(memories) for owner, memories in by_owner.items()}
