"""What the commands read and change beyond what the tools do: the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.contracts.memory import MemoryScope
from agent.store.queries import load_queries
from plugins.memory.memory import Memory, memory_from_row

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from agent.contracts.people import Account
    from agent.places import Audience
    from agent.store.pool import Store
    from agent.tools import Connection
    from plugins.memory.repository import Actor

QUERIES = load_queries("plugins.memory.commands", "rows.sql")


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a memory comes from; names are untrusted text."""

    origin: str
    tags: tuple[str, ...]
    platform: str
    server: str | None
    channel: str | None
    message_id: str | None
    turn_id: str | None
    tool: str | None
    author: str | None
    """None when it is not known, for somebody who was forgotten, and for who wants not to be named."""
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Amendment:
    """What is given a memory by hand beside its text; None leaves it as it is."""

    channel_ids: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    audience: Audience | None = None
    lineage_id: int | None = None


class CommandRows:
    """Reads for commands; what takes `conn` belongs into the caller's transaction, under the owner's lock."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def find(
        self, scope: MemoryScope, memory_id: int, owner_id: int, conn: Connection | None = None
    ) -> Memory | None:
        """Return the memory of that id if it is this owner's, of whichever lineage."""
        if conn is None:
            async with self._store.connection() as own:
                return await self.find(scope, memory_id, owner_id, own)
        row = await conn.fetchrow(QUERIES[f"find_{scope}"], memory_id, owner_id)
        return None if row is None else memory_from_row(row)

    async def is_author(self, memory_id: int, account: Account) -> bool:
        """Tell whether a server memory was made on behalf of this person."""
        async with self._store.connection() as conn:
            found: bool = await conn.fetchval(QUERIES["is_author"], memory_id, account.account_id, account.user_id)
        return found

    async def provenance(self, memory_id: int) -> Provenance | None:
        """Return where a memory comes from; None when it is gone."""
        async with self._store.connection() as conn:
            row = await conn.fetchrow(QUERIES["provenance"], memory_id)
        if row is None:
            return None
        return Provenance(
            row["origin"],
            tuple(row["tags"]),
            row["source_platform"],
            row["server"],
            row["channel"],
            row["source_message_id"],
            row["source_turn_id"],
            row["source_tool"],
            None if row["author_hides"] else row["author"] or None,
            row["created_at"],
            row["updated_at"],
        )

    async def learned_from(self, platform: str, message_id: str) -> frozenset[int]:
        """Return the ids of the memories that came of a message, or of what a message of the agent's own answered."""
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["learned_from"], platform, message_id)
        return frozenset(row[0] for row in rows)

    async def channels(self, server_id: int) -> Mapping[str, str]:
        """Return the channels of a server that have been seen: platform id → name."""
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["channels"], server_id)
        return {row["external_id"]: row["name"] for row in rows}

    async def count(self, conn: Connection, scope: MemoryScope, owner_id: int, lineage_id: int) -> int:
        """Return how many places of an owner are taken in a lineage."""
        count: int = await conn.fetchval(QUERIES[f"count_{scope}"], owner_id, lineage_id)
        return count

    async def counted(self, scope: MemoryScope, owner_id: int, lineage_id: int) -> int:
        """Return the same outside of a transaction."""
        async with self._store.connection() as conn:
            return await self.count(conn, scope, owner_id, lineage_id)

    async def amend(
        self, conn: Connection, memory: Memory, given: Amendment, actor: Actor, now: datetime
    ) -> int | None:
        """Change a memory beside its text, by hand; return the new version, None when the memory is not as it was."""
        tags = None if given.tags is None else list(given.tags)
        version: int | None
        if memory.scope is MemoryScope.PERSONAL:
            version = await conn.fetchval(
                QUERIES["amend_personal"],
                memory.memory_id,
                tags,
                given.audience,
                now,
                memory.version,
                actor.account_id,
                actor.tool,
            )
            return version
        version = await conn.fetchval(
            QUERIES["amend_server"],
            memory.memory_id,
            None if given.channel_ids is None else list(given.channel_ids),
            tags,
            given.audience,
            given.lineage_id,
            now,
            memory.version,
            actor.account_id,
            actor.tool,
        )
        return version

    async def same(self, conn: Connection, memory: Memory, given: Amendment) -> int | None:
        """Return the other memory that would say the same as this one once it had what it is given."""
        found: int | None
        if memory.scope is MemoryScope.PERSONAL:
            found = await conn.fetchval(QUERIES["same_personal"], memory.memory_id, given.audience)
        else:
            channels = None if given.channel_ids is None else list(given.channel_ids)
            values = (memory.memory_id, channels, given.audience, given.lineage_id)
            found = await conn.fetchval(QUERIES["same_server"], *values)
        return found

    async def stand_for(self, conn: Connection, standing: int, memory: Memory, actor: Actor, now: datetime) -> None:
        """Let a memory count as fresh and as written by hand, with the tags of one that says the same."""
        values = (standing, memory.memory_id, now, actor.account_id, actor.tool)
        await conn.execute(QUERIES[f"stand_for_{memory.scope}"], *values)
