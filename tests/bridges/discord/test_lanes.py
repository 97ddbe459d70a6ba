import asyncio
from functools import partial

from bridges.discord.lanes import Lanes


async def test_a_lane_keeps_its_order_and_others_do_not_wait() -> None:
    lanes, done, gate = Lanes(), list[str](), asyncio.Event()

    async def work(name: str) -> None:
        if name.startswith("slow"):
            await gate.wait()
        done.append(name)

    for key, name in ((1, "slow 1"), (1, "a"), (2, "b"), (1, "c"), (2, "d")):
        assert lanes.put(key, partial(work, name))
    await asyncio.sleep(0.01)
    assert done == ["b", "d"]
    gate.set()
    await lanes.idle()
    assert done == ["b", "d", "slow 1", "a", "c"]


async def test_a_failure_costs_one_piece_of_work() -> None:
    lanes, done = Lanes(), list[int]()

    async def fail() -> None:
        raise LookupError("gone")

    async def work() -> None:
        done.append(1)

    assert lanes.put(1, fail)
    assert lanes.put(1, work)
    await lanes.idle()
    assert done == [1]


async def test_a_full_lane_takes_no_more_and_a_stopped_one_drops_the_rest() -> None:
    lanes, gate = Lanes(bound=2), asyncio.Event()

    async def wait() -> None:
        await gate.wait()

    assert lanes.put(1, wait)
    await asyncio.sleep(0)
    assert [lanes.put(1, wait) for _ in range(3)] == [True, True, False]
    assert lanes.put(2, wait)
    await lanes.stop()
    gate.set()
    await lanes.idle()
