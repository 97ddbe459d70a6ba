"""What a lineage holds of one server: said when a persona leaves it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agent.catalog import N_
from agent.store.queries import load_queries

if TYPE_CHECKING:
    from agent.store.pool import Store

KINDS: Final = (N_("server memories"), N_("personal memories"))
"""How people read the kinds that are counted."""
QUERIES = load_queries("plugins.memory", "lineages.sql")


async def count_lineage(store: Store, server_id: int, lineage_id: int) -> dict[str, int]:
    """Return how many memories of a server, and of people that were learned there, a lineage holds."""
    async with store.connection() as conn:
        row = await conn.fetchrow(QUERIES["count_lineage"], server_id, lineage_id)
    return {} if row is None else dict(row)
