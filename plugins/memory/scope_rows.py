"""Memories whose channel scope is given by names that are not resolved to channels yet: the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.store.queries import load_queries
from plugins.memory.scope_rules import ChannelNames, KnownChannel, Scope

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from agent.store.pool import Store
    from agent.tools import Connection
    from plugins.memory.repository import Actor

QUERIES = load_queries("plugins.memory", "scopes.sql")


@dataclass(frozen=True, slots=True)
class PendingScope:
    """A memory that waits for its channels, and what its names mean now."""

    memory_id: int
    lineage_id: int
    content: str
    """Untrusted text, as it is kept."""
    tags: tuple[str, ...]
    """The names, as they were given: `#general`."""
    scope: Scope


class ScopeRows:
    """Reads and settles pending scopes. What takes `conn` belongs into the caller's transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def servers(self) -> tuple[int, ...]:
        """Return the servers that have a pending scope."""
        async with self._store.connection() as conn:
            return tuple(row["server_id"] for row in await conn.fetch(QUERIES["servers_waiting"]))

    async def is_waiting(self, server_id: int) -> bool:
        """Tell whether a server has a pending scope."""
        async with self._store.connection() as conn:
            found: bool = await conn.fetchval(QUERIES["is_waiting"], server_id)
        return found

    async def pending(
        self, server_id: int, lineage_id: int | None = None, *, after: int = 0, limit: int = 100
    ) -> tuple[PendingScope, ...]:
        """Return the pending scopes of a server with a greater id than `after`, by id; of one lineage, or of all."""
        async with self._store.connection() as conn:
            return await self.read(conn, server_id, lineage_id, after=after, limit=limit)

    async def read(
        self, conn: Connection, server_id: int, lineage_id: int | None = None, *, after: int = 0, limit: int = 100
    ) -> tuple[PendingScope, ...]:
        """Return the same on a connection of the caller's."""
        rows = await conn.fetch(QUERIES["waiting"], server_id, after, lineage_id, limit)
        if not rows:
            return ()
        channels = await conn.fetch(QUERIES["known_channels"], server_id)
        names = ChannelNames(KnownChannel(row["external_id"], row["name"]) for row in channels)
        return tuple(
            PendingScope(
                row["memory_id"],
                row["persona_lineage_id"],
                row["content"],
                tuple(row["tags"]),
                names.settle(row["tags"]),
            )
            for row in rows
        )

    async def settle(
        self,
        conn: Connection,
        server_id: int,
        channels: Mapping[int, Sequence[str]],
        actor: Actor,
        now: datetime,
        *,
        manually: bool,
    ) -> tuple[int, ...]:
        """Give memories (by id) the channels in which they apply; return those that were still pending.

        To be called under the server's lock; the caller raises the revision and announces it. `manually`: somebody has
        decided it, which protects the memories from giving way.
        """
        given = [{"memory_id": memory_id, "channel_ids": list(ids)} for memory_id, ids in channels.items()]
        rows = await conn.fetch(
            QUERIES["settle"], server_id, given, manually, now, actor.account_id, actor.turn_id, actor.tool
        )
        return tuple(row["memory_id"] for row in rows)
