import asyncio
import json
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.store import revisions
from agent.store.pool import ExternalServer, Store
from agent.store.revisions import RevisionHints, bump, payloads, read


async def test_revisions_begin_at_nothing_and_rise(store: Store) -> None:
    async with store.transaction() as connection:
        assert await read(connection, ["server:1", "user:2"]) == {"server:1": 0, "user:2": 0}
        assert await bump(connection, ["user:2", "server:1", "user:2"]) == {"server:1": 1, "user:2": 1}
        assert await bump(connection, ["server:1"]) == {"server:1": 2}
        assert await read(connection, ["user:2", "server:1", "user:9"]) == {"user:2": 1, "server:1": 2, "user:9": 0}
        assert await bump(connection, []) == {}


async def test_a_raise_that_is_rolled_back_is_none(store: Store) -> None:
    async def work() -> None:
        async with store.transaction() as connection:
            await bump(connection, ["server:1"])
            raise ValueError("on purpose")

    with pytest.raises(ValueError, match="on purpose"):
        await work()
    async with store.connection() as connection:
        assert await read(connection, ["server:1"]) == {"server:1": 0}


async def test_raises_in_any_order_lose_nothing_and_do_not_deadlock(store: Store) -> None:
    owners = [f"user:{number}" for number in range(10)]

    async def work(turn: int) -> None:
        async with store.transaction() as connection:
            await bump(connection, owners[turn % 10 :] + owners[: turn % 10])

    await asyncio.gather(*(work(turn) for turn in range(40)))
    async with store.connection() as connection:
        assert await read(connection, owners) == dict.fromkeys(owners, 40)


class Ear:
    def __init__(self) -> None:
        self.heard: list[str] = []
        self.something = asyncio.Event()

    def __call__(self, owner: str) -> None:
        self.heard.append(owner)
        self.something.set()


@pytest.fixture
async def ears(database_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[list[tuple[RevisionHints, Ear]]]:
    """Two processes, as far as the database can tell."""
    monkeypatch.setattr(revisions, "_FIRST_PAUSE", 0.01)
    async with Store(ExternalServer(database_url)) as one, Store(ExternalServer(database_url)) as other:
        pairs = []
        for store in (one, other):
            ear = Ear()
            hints = RevisionHints(store, ear)
            hints.start()
            pairs.append((hints, ear))
        async with asyncio.timeout(5):
            for hints, _ in pairs:
                await hints.connected.wait()
        yield pairs
        for hints, _ in pairs:
            await hints.stop()


async def test_another_process_hears_and_the_own_does_not(ears: list[tuple[RevisionHints, Ear]]) -> None:
    (speaker, own), (_, other) = ears
    speaker.announce(["server:1"])
    speaker.announce(["user:2", "server:1"])
    async with asyncio.timeout(5):
        await other.something.wait()
    assert other.heard == ["server:1", "user:2"]
    assert own.heard == []


async def test_a_lost_listener_comes_back(ears: list[tuple[RevisionHints, Ear]], store: Store) -> None:
    (speaker, _), (listener, other) = ears
    async with store.connection() as connection:
        await connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
            " AND datname = current_database()"
        )
    async with asyncio.timeout(5):
        while not other.heard:
            speaker.announce(["server:1"])  # what was announced meanwhile may be lost
            await asyncio.sleep(0.05)
        await listener.connected.wait()


async def test_nonsense_on_the_channel_is_ignored(ears: list[tuple[RevisionHints, Ear]], store: Store) -> None:
    (speaker, _), (_, other) = ears
    async with store.connection() as connection:
        for payload in ("", "no json", "[]", "{}", "7"):
            await connection.execute("SELECT pg_notify($1, $2)", revisions.CHANNEL, payload)
    speaker.announce(["server:1"])
    async with asyncio.timeout(5):
        await other.something.wait()
    assert other.heard == ["server:1"]


async def test_announcing_needs_no_database(database_url: str) -> None:
    hints = RevisionHints(Store(ExternalServer("postgresql://app@127.0.0.1:1/x")), lambda _: None)
    hints.announce(["server:1"])
    hints.start()
    await asyncio.sleep(0.05)
    hints.announce(f"user:{number}" for number in range(20_000))
    hints.announce(["server:1"])
    assert len(hints._pending) <= 20_001
    await hints.stop()
    await hints.stop()


@given(st.lists(st.text(max_size=40), max_size=400))
def test_no_payload_is_too_long_and_none_is_lost(owners: list[str]) -> None:
    found = []
    for payload in payloads("me", owners):
        assert len(payload.encode()) < 8000
        sender, *batch = json.loads(payload)
        assert sender == "me"
        found += batch
    assert found == owners
