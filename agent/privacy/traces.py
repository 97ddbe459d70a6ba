"""What stands about an erased memory where memories are not kept: cards that wait, turns that have just learned it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from agent.store.queries import load_queries

if TYPE_CHECKING:
    from agent.tools import Connection

QUERIES = load_queries(__name__, "traces.sql")


async def take_back(
    conn: Connection, memory_ids: Sequence[int], sources: Sequence[tuple[str, str]], now: datetime
) -> None:
    """Take back, within an erasure, what others' turns have brought of memories that it removes.

    Cards that were not sent yet lose their text. A turn that has learned one of them and still runs ends without an
    answer: it would write what it learned into its next checkpoint, and say it.

    Args:
        conn: The connection of the erasure.
        memory_ids: What is removed.
        sources: The platform and id of the messages that it was learned from.
        now: The moment of the erasure.

    """
    platforms = [platform for platform, _ in sources]
    messages = [message for _, message in sources]
    await conn.execute(QUERIES["give_up_turns"], platforms, messages, now)
    await conn.execute(QUERIES["cancel_cards"], memory_ids, now)
