from __future__ import annotations

import asyncio

import pytest

from agent.presence import AlreadyServed, Presence
from agent.store.pool import Store
from agent.store.worker import dead_workers


async def dead(store: Store, *workers: int) -> list[int]:
    async with store.transaction() as conn:
        return await dead_workers(conn, workers)


async def test_a_worker_lives_until_it_stops(store: Store) -> None:
    presence = Presence(store, 7, ())
    await presence.start()
    assert await dead(store, 7, 8) == [8]
    await presence.stop()
    assert await dead(store, 7, 8) == [7, 8]


async def test_one_account_is_served_by_one_process(store: Store) -> None:
    first, second = Presence(store, 1, ("fake/bot",)), Presence(store, 2, ("fake/bot",))
    await first.start()
    with pytest.raises(AlreadyServed, match="bridge fake: another isthmus run already serves this account"):
        await second.start()
    await first.stop()
    third = Presence(store, 3, ("fake/bot",))
    await third.start()
    await third.stop()
    await second.stop()


async def test_the_locks_are_taken_again_after_the_connection_was_lost(store: Store) -> None:
    presence = Presence(store, 7, ("fake/bot",))
    await presence.start()
    async with store.connection() as conn:
        await conn.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()"
        )
    for _ in range(100):
        await asyncio.sleep(0.05)
        if await dead(store, 7) == []:
            break
    assert await dead(store, 7) == []
    await presence.stop()
