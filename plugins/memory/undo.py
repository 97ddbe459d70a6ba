"""Bringing back what was deleted or gave way: the old row under its old id, with every check of a new one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from agent.contracts.memory import MemoryScope, MemorySource, MemoryWrite, Origin, WriteKind
from agent.store.queries import load_queries
from plugins.memory.commands.rows import CommandRows
from plugins.memory.memory import Memory, memory_from_row
from plugins.memory.rules import UNDO_KEPT
from plugins.memory.saving import owner_of

if TYPE_CHECKING:
    from datetime import datetime

    import asyncpg

    from agent.contracts.people import Denial
    from agent.store.pool import Store
    from agent.tools import Connection
    from plugins.memory.repository import Actor
    from plugins.memory.saving import Writing

QUERIES = load_queries("plugins.memory", "undo.sql")

type Bind = Callable[[Connection, Memory | None], Awaitable[None]]
"""Writes, within the transaction, what goes with a restored memory; gets the one that went for it."""
_COLUMNS = 17
"""Those of a memory; what follows belongs to the copy."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The copy of a memory that is gone."""

    memory: Memory
    author_account_id: int | None
    author_user_id: int | None
    gave_way_at: datetime | None
    """When it gave way to a new one, which was made at that moment; None where it was deleted."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What became of an undo; all empty: the copy is gone."""

    memory_id: int | None = None
    denial: Denial | None = None
    limit: int | None = None
    """Every one of so many places is taken; nothing gives way to what comes back."""
    same_as: int | None = None
    """A memory that says the same."""
    changed: int | None = None
    """The memory that was to make room, which is another by now than the card showed."""


class UndoRows:
    """The undo copies."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._counts = CommandRows(store)

    async def read(self, memory_id: int, since: datetime) -> Forgotten | None:
        """Return the copy of a memory that was removed after `since`."""
        async with self._store.connection() as conn:
            for scope in MemoryScope:
                row = await conn.fetchrow(QUERIES[f"read_forgotten_{scope}"], memory_id, since)
                if row is not None:
                    memory = memory_from_row(cast("asyncpg.Record", row[:_COLUMNS]))
                    author = row["author_account_id"], row["author_user_id"]
                    return Forgotten(memory, *author, row["gave_way_at"])
        return None

    async def recent(self, scope: MemoryScope, owner_id: int, since: datetime) -> tuple[Memory, ...]:
        """Return what an owner's memories lost since a moment, the last first, at most 100."""
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES[f"recent_{scope}"], owner_id, since)
        return tuple(memory_from_row(row) for row in rows)

    async def count(self, conn: Connection, memory: Memory) -> int:
        """Return how many places are taken where a memory was."""
        return await self._counts.count(conn, memory.scope, memory.owner_id, memory.lineage_id)

    async def present(self, conn: Connection, memory: Memory) -> Memory | None:
        """Return a memory as it is now."""
        return await self._counts.find(memory.scope, memory.memory_id, memory.owner_id, conn)

    async def same(self, conn: Connection, memory: Memory) -> int | None:
        """Return the memory that says the same as a copy."""
        found: int | None = await conn.fetchval(QUERIES[f"same_{memory.scope}"], memory.memory_id)
        return found

    async def restore(
        self, conn: Connection, memory: Memory, since: datetime, now: datetime, actor: Actor
    ) -> int | None:
        """Bring a memory back; None when its copy is gone."""
        found: int | None = await conn.fetchval(
            QUERIES[f"restore_{memory.scope}"], memory.memory_id, since, now, actor.account_id, actor.tool
        )
        return found


async def restore(
    writing: Writing,
    rows: UndoRows,
    forgotten: Forgotten,
    server_id: int,
    actor: Actor,
    *,
    bind: Bind,
    instead: Memory | None = None,
) -> Restored:
    """Bring a memory back, if privacy and guards still allow it and there is a place; asked in that server.

    `instead` is the memory that it gave way to: it goes, with a copy for undo, and leaves its place.
    """
    memory, now = forgotten.memory, writing.clock.now()
    write = _write(forgotten, server_id)
    if (denial := await writing.guards.check_write(write)) is not None:
        return Restored(denial=denial)
    is_server = memory.scope is MemoryScope.SERVER
    limit = writing.settings.max_server_memories if is_server else writing.settings.max_personal_memories
    async with writing.locks.hold(owner_of(write)), writing.store.transaction() as conn:
        if (denial := await writing.guards.recheck(conn, write)) is not None:
            return Restored(denial=denial)
        if (same := await rows.same(conn, memory)) is not None:
            return Restored(same_as=same)
        replaced = None if instead is None else await rows.present(conn, instead)
        if replaced is not None and instead is not None and replaced.version != instead.version:
            return Restored(changed=replaced.memory_id)
        makes_room = replaced is not None and replaced.lineage_id == memory.lineage_id
        if await rows.count(conn, memory) - makes_room >= limit:
            return Restored(limit=limit)
        restored = await rows.restore(conn, memory, now - UNDO_KEPT, now, actor)
        if restored is not None and replaced is not None:
            await writing.repository.remove(conn, replaced, actor, now)
        if restored is not None:
            await bind(conn, replaced)
    if restored is not None:
        writing.committed(owner_of(write), restored)
    return Restored(restored)


def _write(forgotten: Forgotten, server_id: int) -> MemoryWrite:
    """Return what comes back as guards see it: as old as it was, so that a later request to be forgotten counts."""
    memory = forgotten.memory
    is_server = memory.scope is MemoryScope.SERVER
    source = MemorySource(
        platform=memory.source_platform,
        server_id=memory.source_server_id,
        channel_external_id=memory.source_channel_id,
        message_id=None,
        turn_id=None,
        tool=None,
        author_account_id=forgotten.author_account_id,
        occurred_at=memory.created_at,
    )
    return MemoryWrite(
        kind=WriteKind.CREATE,
        scope=memory.scope,
        server_id=server_id,
        user_id=None if is_server else memory.owner_id,
        lineage_id=memory.lineage_id,
        content=memory.content,
        audience=memory.audience,
        origin=Origin.COMMAND,
        source=source,
        subject_account_id=memory.subject_account_id,
        subject_user_id=memory.subject_user_id if is_server else memory.owner_id,
        about_proxy_identity=memory.subject_account_id is None and memory.subject_user_id is not None,
    )
