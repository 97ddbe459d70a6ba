"""The name indexes of the servers that were asked about last, each as true as the database.

Whatever changes a name raises the revision of its server's directory in the same transaction (0011_directory.sql). A
question reads that revision together with what has changed since the index was true, so another process's changes
count as soon as they are committed, and one rename is one person read again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from cachetools import LRUCache

from agent.identity.names import skeletons
from agent.store.queries import load_queries

if TYPE_CHECKING:
    from asyncpg import Record

    from agent.identity.index import NameIndex
    from agent.store.pool import Store

QUERIES = load_queries(__name__, "indexes.sql")
NAMES: Final = 3_000_000
"""Names held over all servers; each takes about 150 bytes."""
_ROWS: Final = 500
"""Rows after which others get the event loop; where more have changed, the index is built anew, in such steps."""


class NameIndexes:
    """An index for each server, built when it is first asked for; the one asked for longest ago gives way."""

    def __init__(self, store: Store, names: int = NAMES) -> None:
        self._store = store
        self._held: LRUCache[int, NameIndex] = LRUCache(names, getsizeof=lambda index: len(index) + 1)
        self._building: dict[int, asyncio.Task[NameIndex]] = {}

    @property
    def servers(self) -> int:
        """How many servers are held."""
        return len(self._held)

    async def get(self, server_id: int) -> NameIndex:
        """Return the index of a server, at least as new as everything that was committed before the call."""
        index = self._held.get(server_id)
        if index is None:
            # What another caller is building may have been read before this call.
            index = await self._built(server_id)
        known = index.revision
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["changed_names"], server_id, known)
        # A lower revision: another database stands in the place of the one that was read.
        if rows[0]["revision"] < known or len(rows) > _ROWS:
            if self._held.get(server_id) is index:
                del self._held[server_id]
            return await self._begin(server_id)
        if _apply(index, rows) and self._held.get(server_id) is index:
            self._hold(server_id, index)
        return index

    async def _built(self, server_id: int) -> NameIndex:
        """Return what is being built, or begin to."""
        task = self._building.get(server_id)
        return await (self._begin(server_id) if task is None else asyncio.shield(task))

    async def _begin(self, server_id: int) -> NameIndex:
        task = asyncio.create_task(self._build(server_id), name=f"names of server {server_id}")
        self._building[server_id] = task
        task.add_done_callback(lambda done: self._landed(server_id, done))
        return await asyncio.shield(task)

    def _landed(self, server_id: int, task: asyncio.Task[NameIndex]) -> None:
        if self._building.get(server_id) is task:
            del self._building[server_id]
        if not task.cancelled() and task.exception() is None:
            held = self._held.get(server_id)
            if held is None or held.revision < task.result().revision:
                self._hold(server_id, task.result())

    async def _build(self, server_id: int) -> NameIndex:
        # numpy takes a tenth of a second to load.
        index: NameIndex = (await asyncio.to_thread(import_module, "agent.identity.index")).NameIndex()
        rest: list[Record] = []
        async with self._store.transaction() as conn:
            cursor = await conn.cursor(QUERIES["all_names"], server_id)
            while rows := await cursor.fetch(_ROWS):
                index.revision = rows[0]["revision"]
                rows = rest + rows
                last = rows[-1]["account_id"]
                rest = [row for row in rows if row["account_id"] == last]
                for person in _people(rows[: len(rows) - len(rest)]):
                    index.append(*person)
        for person in _people(rest):
            index.append(*person)
        index.sort()
        return index

    def _hold(self, server_id: int, index: NameIndex) -> None:
        """Hold an index by its present size; one that is larger than all that may be held is built each time."""
        self._held.pop(server_id, None)
        if len(index) < self._held.maxsize:
            self._held[server_id] = index


def _people(rows: Sequence[Record]) -> Iterator[tuple[int, list[str], Iterable[str]]]:
    """Yield account, names and looks of each person in rows that stand together; nobody is a row without account."""
    for account_id, group in groupby(rows, key=itemgetter("account_id")):
        if account_id is not None:
            borne = [(row["normalised"], row["value"]) for row in group if row["normalised"] is not None]
            looks = frozenset[str]().union(*(skeletons(value) for _, value in borne))
            yield account_id, list(dict.fromkeys(name for name, _ in borne)), looks


def _apply(index: NameIndex, rows: Sequence[Record]) -> bool:
    """Bring an index up to what was read, unless it is as new already; tell whether it has changed."""
    revision: int = rows[0]["revision"]
    if revision <= index.revision:
        return False
    for person in _people(rows):
        index.put(*person)
    index.revision = revision
    return True
