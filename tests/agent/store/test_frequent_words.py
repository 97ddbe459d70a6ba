from __future__ import annotations

from datetime import UTC, datetime, timedelta

from agent.store.frequent_words import SECONDS, FrequentWords
from agent.store.pool import Store
from tests.clocks import ManualClock


async def test_the_statistics_tell_which_words_say_nothing(store: Store) -> None:
    clock = ManualClock(datetime(2026, 1, 1, tzinfo=UTC))
    frequent = FrequentWords(store, clock, "notes")
    async with store.connection() as conn:
        await conn.execute("CREATE TABLE notes (words tsvector)")
        await conn.execute(
            "INSERT INTO notes SELECT array_to_tsvector(ARRAY['the', 'word' || n, 'tenth' || n % 10, 'it''s, \"so\"'])"
            " FROM generate_series(1, 1000) n"
        )
        assert await frequent.get() == frozenset(), "nothing is known before the table is analysed"
        await conn.execute("ANALYZE notes")
    assert await frequent.get() == frozenset(), "the answer is kept for a while"
    clock.advance(timedelta(seconds=SECONDS + 1))
    expected = {"the", 'it\'s, "so"', *(f"tenth{n}" for n in range(10))}
    assert await frequent.get() == expected
    async with store.connection() as conn:
        await conn.execute("TRUNCATE notes")
        await conn.execute("INSERT INTO notes SELECT array_to_tsvector(ARRAY['new']) FROM generate_series(1, 9)")
        await conn.execute("ANALYZE notes")
    assert await frequent.get() == expected
    frequent.expire()
    assert await frequent.get() == {"new"}


async def test_a_table_that_is_not_there_has_no_frequent_words(store: Store) -> None:
    assert await FrequentWords(store, ManualClock(datetime(2026, 1, 1, tzinfo=UTC)), "nowhere").get() == frozenset()
