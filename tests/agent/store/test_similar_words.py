from __future__ import annotations

from agent.store.pool import Store
from agent.store.vectors import TRIGRAMS, has_extension

WORDS = ["kraken", "krakens", "kranich", "boat", "boats", "天気予報", "it''s"]


async def test_words_that_begin_alike_and_resemble_each_other_are_found(store: Store) -> None:
    async with store.connection() as conn:
        await conn.execute("CREATE TABLE known (word text PRIMARY KEY)")
        await conn.execute("CREATE INDEX known_beginning ON known (word text_pattern_ops)")
        await conn.executemany("INSERT INTO known VALUES ($1)", [(word,) for word in WORDS])

        async def similar(*words: str, least: float = 0.4, most: int = 3) -> list[tuple[str, str]]:
            query = "SELECT asked, word FROM similar_words('known', $1, $2, $3)"
            return [(row["asked"], row["word"]) for row in await conn.fetch(query, words, least, most)]

        await conn.execute("DROP EXTENSION IF EXISTS pg_trgm")
        assert await similar("krakken") == []
        assert await has_extension(conn, TRIGRAMS)
        assert await similar("krakken") == [("krakken", "kraken"), ("krakken", "krakens")]
        assert await similar("krakken", most=1) == [("krakken", "kraken")]
        assert await similar("krakken", least=0.9) == []
        assert await similar("kraken", "boaat") == [("boaat", "boat")], "a known word needs no others"
        assert await similar("rkaken", "kr", "", "%", "'; --") == []
