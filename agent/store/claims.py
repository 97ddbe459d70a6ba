"""A message in the place of another one: of the two at most one is ever answered."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from agent.store.queries import load_queries

if TYPE_CHECKING:
    from agent.tools import Connection

QUERIES = load_queries("agent.store", "claims.sql")


async def take_place_of(conn: Connection, platform: str, event_id: str, now: datetime) -> bool:
    """End an event so that another message may be answered in its place; tell whether that may be answered.

    It may not when the first one was answered, refused with a word, or its turn has taken effect already.
    """
    if await conn.fetchval(QUERIES["claim"], platform, event_id, now):
        return True
    return bool(await conn.fetchval(QUERIES["went_unanswered"], platform, event_id))
