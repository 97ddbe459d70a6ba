"""Turns of others that have just learned what an erasure removes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from agent.store.queries import load_queries

if TYPE_CHECKING:
    from agent.tools import Connection

QUERIES = load_queries(__name__, "traces.sql")


async def end_turns(conn: Connection, sources: Sequence[tuple[str, str]], now: datetime) -> None:
    """End, within an erasure, the turns that have learned something that it removes and still run.

    They end without an answer: they would write it into their next checkpoint, and say it.

    Args:
        conn: The connection of the erasure.
        sources: The platform and id of the messages that the removed was learned from.
        now: The moment of the erasure.

    """
    platforms = [platform for platform, _ in sources]
    messages = [message for _, message in sources]
    await conn.execute(QUERIES["end_turns"], platforms, messages, now)
