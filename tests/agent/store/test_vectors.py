from __future__ import annotations

import asyncio

import asyncpg
import pytest

from agent.store.pool import Store
from agent.store.vectors import TRIGRAMS, fit_vector_table, has_extension, prepare_vector_table


@pytest.fixture
async def things(store: Store) -> Store:
    async with store.connection() as conn:
        await conn.execute("CREATE TABLE things (thing_id bigint PRIMARY KEY)")
        await conn.execute("INSERT INTO things SELECT generate_series(1, 5)")
    return store


async def test_extensions_that_are_installed_are_created(store: Store) -> None:
    async with store.connection() as conn:
        assert await has_extension(conn)
        assert await has_extension(conn, TRIGRAMS)
        assert not await has_extension(conn, "no_such_extension")
        assert await conn.fetchval("SELECT count(*) FROM pg_extension WHERE extname IN ('vector', 'pg_trgm')") == 2


async def test_an_extension_that_may_not_be_created_is_missing(store: Store) -> None:
    async with store.transaction() as conn:
        await conn.execute("DROP EXTENSION IF EXISTS vector CASCADE")
        await conn.execute("CREATE ROLE somebody")
        await conn.execute("SET LOCAL ROLE somebody")
        assert not await has_extension(conn)
        assert not await prepare_vector_table(conn, "thing_vectors", "things", "thing_id")
        assert await conn.fetchval("SELECT 1") == 1, "the transaction goes on"
        await conn.execute("RESET ROLE")
        await conn.execute("DROP ROLE somebody")


async def test_vectors_come_back_by_similarity_and_go_with_their_rows(things: Store) -> None:
    async with things.connection() as conn:
        assert await prepare_vector_table(conn, "thing_vectors", "things", "thing_id")
        assert await prepare_vector_table(conn, "thing_vectors", "things", "thing_id"), "again is fine"
        insert = "INSERT INTO thing_vectors VALUES ($1, 1, 'local', $2::real[]::vector)"
        await conn.executemany(insert, [(1, [1.0, 0.0]), (2, (0.6, 0.8))])
        near = "SELECT row_id, -(embedding <#> $1::real[]::vector) AS cosine FROM thing_vectors ORDER BY 2 DESC"
        rows = await conn.fetch(near, (0.0, 1.0))
        assert [row["row_id"] for row in rows] == [2, 1]
        assert [row["cosine"] for row in rows] == pytest.approx([0.8, 0.0])
        await conn.execute("DELETE FROM things WHERE thing_id = 2")
        assert await conn.fetchval("SELECT array_agg(row_id) FROM thing_vectors") == [1]


@pytest.mark.parametrize("dimension", [256, 1536, 1900, 3072])
async def test_a_table_takes_the_vectors_of_any_model(things: Store, dimension: int) -> None:
    async with things.connection() as conn:
        await prepare_vector_table(conn, "thing_vectors", "things", "thing_id")
        await fit_vector_table(conn, "thing_vectors", dimension)
        await conn.execute("INSERT INTO thing_vectors VALUES (1, 1, 'm', $1::real[]::vector)", [0.5] * dimension)
        assert await conn.fetchval("SELECT vector_dims(embedding) FROM thing_vectors") == dimension


async def test_without_fitting_a_long_vector_is_refused(things: Store) -> None:
    async with things.connection() as conn:
        await prepare_vector_table(conn, "thing_vectors", "things", "thing_id")
        with pytest.raises(asyncpg.ProgramLimitExceededError):
            await conn.execute("INSERT INTO thing_vectors VALUES (1, 1, 'm', $1::real[]::vector)", [0.5] * 3072)


async def test_processes_that_prepare_at_once_make_one_table(things: Store) -> None:
    async def prepare() -> bool:
        async with things.connection() as conn:
            return await prepare_vector_table(conn, "thing_vectors", "things", "thing_id")

    assert await asyncio.gather(*(prepare() for _ in range(8))) == [True] * 8
