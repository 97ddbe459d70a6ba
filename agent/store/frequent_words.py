"""The words of a table that say nothing because too many rows hold them, by PostgreSQL's own statistics."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from agent.store.vectors import QUERIES

if TYPE_CHECKING:
    from agent.clock import Clock
    from agent.store.pool import Store

SHARE: Final = 0.03
"""Of the rows: a word in more of them costs time and decides nothing."""
SECONDS: Final = 600.0
"""How long the answer is kept: it need not be exact."""


class FrequentWords:
    """The frequent words of one column of type tsvector; empty until PostgreSQL has analysed the table."""

    def __init__(self, store: Store, clock: Clock, table: str, column: str = "words", *, share: float = SHARE) -> None:
        self._store = store
        self._clock = clock
        self._asked = (table, column, share)
        self._words: frozenset[str] = frozenset()
        self._until = float("-inf")
        self._reading = asyncio.Lock()

    async def get(self) -> frozenset[str]:
        """Return the words, read at most every ten minutes."""
        if self._clock.monotonic() < self._until:
            return self._words
        async with self._reading:
            if self._clock.monotonic() >= self._until:
                async with self._store.connection() as conn:
                    rows = await conn.fetch(QUERIES["frequent_words"], *self._asked)
                self._words = frozenset(row["word"] for row in rows)
                self._until = self._clock.monotonic() + SECONDS
        return self._words

    def expire(self) -> None:
        """Read anew at the next call: much was added or removed."""
        self._until = float("-inf")
