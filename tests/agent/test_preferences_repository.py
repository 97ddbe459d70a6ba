from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from agent.preferences import Layer, Preference, PreferenceError, resolve
from agent.preferences_repository import QUERIES, choose, clear, read_rows
from agent.store.pool import Store

NOW = datetime(2026, 3, 1, tzinfo=UTC)
BOTH = frozenset({Layer.SERVER, Layer.PERSON})


@pytest.fixture
async def owners(store: Store) -> tuple[int, int]:
    async with store.connection() as connection:
        server: int = await connection.fetchval(
            "INSERT INTO servers (platform, external_id, kind, name, created_at)"
            " VALUES ('console', 'home', 'room', 'home', $1) RETURNING server_id",
            NOW,
        )
        account: int = await connection.fetchval(
            "INSERT INTO accounts (platform, external_id, kind, display_name, created_at, last_seen_at)"
            " VALUES ('console', 'ana', 'person', 'Ana', $1, $1) RETURNING account_id",
            NOW,
        )
    return server, account


async def test_every_query_fits_the_schema(store: Store) -> None:
    async with store.connection() as connection:
        for query in QUERIES.values():
            await connection.prepare(query)


@pytest.mark.parametrize(
    ("preference", "value"),
    [
        (Preference("k", 1, "d", layers=BOTH), 7),
        (Preference("k", 1.0, "d", layers=BOTH), 2.5),
        (Preference("k", True, "d", layers=BOTH), False),
        (Preference("k", "x", "d", layers=BOTH), 'a "quoted" ünïcode'),
        (Preference("k", ("x",), "d", layers=BOTH), ("a", "b")),
        (Preference("k", 1.0, "d", layers=BOTH, nullable=True), None),
    ],
)
async def test_a_choice_comes_back_in_its_layer(
    store: Store, owners: tuple[int, int], preference: Preference[Any], value: object
) -> None:
    server, account = owners
    async with store.connection() as connection:
        for layer, owner in ((Layer.SERVER, server), (Layer.PERSON, account)):
            await choose(connection, preference, layer, owner, value)
            rows = await read_rows(connection, server, account)
            result = resolve(preference, rows.server, rows.person)
            assert (result.value, result.layer) == (value, layer)
        assert (await read_rows(connection, server, None)).person == {}
        assert (await read_rows(connection, None, account)).server == {}
        assert await clear(connection, "k", Layer.PERSON, account)
        assert not await clear(connection, "k", Layer.PERSON, account)
        rows = await read_rows(connection, server, account)
        assert resolve(preference, rows.server, rows.person).layer is Layer.SERVER


async def test_a_second_choice_replaces_the_first(store: Store, owners: tuple[int, int]) -> None:
    preference = Preference("k", 1, "d")
    async with store.connection() as connection:
        await choose(connection, preference, Layer.SERVER, owners[0], 2)
        await choose(connection, preference, Layer.SERVER, owners[0], 3)
        assert (await read_rows(connection, *owners)).server == {"k": 3}


async def test_choices_that_are_refused_change_nothing(store: Store, owners: tuple[int, int]) -> None:
    server, account = owners
    async with store.connection() as connection:
        with pytest.raises(PreferenceError, match="k can be at most 5 here"):
            await choose(connection, Preference("k", 1, "d", cap=5), Layer.SERVER, server, 6)
        with pytest.raises(PreferenceError, match="k is set by the server, not by each person"):
            await choose(connection, Preference("k", 1, "d"), Layer.PERSON, account, 2)
        with pytest.raises(PreferenceError, match="k cannot be changed for a server"):
            await choose(connection, Preference("k", 1, "d", layers=frozenset()), Layer.SERVER, server, 2)
        rows = await read_rows(connection, server, account)
    assert (rows.server, rows.person) == ({}, {})
