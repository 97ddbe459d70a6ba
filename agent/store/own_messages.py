"""Which messages of a platform the agent has sent: known by rows, never by names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.store.queries import load_queries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.store.pool import Store

QUERIES = load_queries("agent.store", "own_messages.sql")


async def own_messages(store: Store, platform: str, message_ids: Sequence[str]) -> dict[str, int | None]:
    """Return those of the messages that the agent has sent, each with its persona; None is the default one."""
    if not message_ids:
        return {}
    async with store.connection() as conn:
        rows = await conn.fetch(QUERIES["personas"], platform, list(message_ids))
    return {row["message_id"]: row["persona_id"] for row in rows}
