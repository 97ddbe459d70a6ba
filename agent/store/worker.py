"""A process as the database knows it: alive while it holds the advisory lock of its number."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent.tools import Connection


def lock_number(text: str) -> int:
    """Return the number of the advisory lock for a name: 63 bits of its BLAKE2b hash."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) >> 1


async def dead_workers(conn: Connection, workers: Iterable[int]) -> list[int]:
    """Return those workers whose process is gone; until the transaction of `conn` ends nobody else finds them dead.

    The lock of a live worker is held by its own connection, so that trying it fails; PostgreSQL lets go of it as
    soon as that process dies.
    """
    return [worker for worker in workers if await conn.fetchval("SELECT pg_try_advisory_xact_lock($1)", worker)]
