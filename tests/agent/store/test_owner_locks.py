import asyncio

import pytest

from agent.store.errors import DatabaseUnavailable
from agent.store.owner_locks import OwnerLocks


async def test_one_at_a_time_per_owner() -> None:
    locks = OwnerLocks()
    inside = most = 0

    async def work() -> None:
        nonlocal inside, most
        async with locks.hold("server:1"):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(*(work() for _ in range(50)))
    assert most == 1


async def test_owners_do_not_wait_for_each_other() -> None:
    locks = OwnerLocks()
    async with locks.hold("server:1"), asyncio.timeout(1), locks.hold("server:2"):
        assert len(locks) == 2


async def test_several_owners_in_any_order_do_not_deadlock() -> None:
    locks = OwnerLocks()

    async def work(*owners: str) -> None:
        for _ in range(100):
            async with locks.hold(*owners):
                await asyncio.sleep(0)

    async with asyncio.timeout(5):
        await asyncio.gather(work("a", "b"), work("b", "a"), work("b", "b", "a"))


async def test_nothing_is_left_when_nobody_holds_a_lock() -> None:
    locks = OwnerLocks()
    for number in range(1000):
        async with locks.hold(f"server:{number}"):
            pass
    assert len(locks) == 0


async def test_a_cancelled_waiter_leaves_the_lock_usable() -> None:
    locks = OwnerLocks()

    async def wait() -> None:
        async with locks.hold("server:1"):
            pass

    async with locks.hold("server:1"):
        waiter = asyncio.create_task(wait())
        await asyncio.sleep(0)
        waiter.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiter
    async with asyncio.timeout(1), locks.hold("server:1"):
        pass


async def test_a_flood_is_refused() -> None:
    locks = OwnerLocks(waiting=2)

    async def wait() -> None:
        async with locks.hold("server:1"):
            pass

    async with locks.hold("server:1"):
        waiters = [asyncio.create_task(wait()) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(DatabaseUnavailable, match="2 changes of server:1 wait already"):
            await wait()
    await asyncio.gather(*waiters)
