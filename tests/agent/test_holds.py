"""Held messages go on when they are released, or by the clock."""

import asyncio
import time

from agent.holds import EARLY, Holds


async def waited(holds: Holds, event_id: str, seconds: float) -> float:
    began = time.monotonic()
    await holds.wait("fake", event_id, seconds)
    return time.monotonic() - began


async def test_the_clock_ends_a_wait() -> None:
    assert 0.05 <= await waited(Holds(), "1", 0.05) < 1


async def test_a_release_ends_a_wait_and_only_that_one() -> None:
    holds = Holds()
    first, second = (asyncio.create_task(waited(holds, each, 0.5)) for each in ("1", "2"))
    await asyncio.sleep(0)
    holds.release("fake", "1")
    holds.release("other", "2")
    assert await first < 0.4
    assert await second >= 0.5


async def test_a_release_before_the_wait_counts_once() -> None:
    holds = Holds()
    holds.release("fake", "1")
    assert await waited(holds, "1", 5) < 1
    assert await waited(holds, "1", 0.05) >= 0.05


async def test_of_very_many_early_releases_the_latest_count() -> None:
    holds = Holds()
    for number in range(EARLY + 1):
        holds.release("fake", str(number))
    assert await waited(holds, "0", 0.05) >= 0.05
    assert await waited(holds, str(EARLY), 5) < 1


async def test_whoever_is_cancelled_leaves_nothing_behind() -> None:
    holds = Holds()
    task = asyncio.create_task(holds.wait("fake", "1", 5))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    holds.release("fake", "1")
    assert await waited(holds, "1", 5) < 1
