import asyncio
import gc
from datetime import UTC, datetime
from typing import NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.cache import RevisionedCache


class ManualClock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return self.seconds


class Database:
    """One value that is its own revision; a load takes as long as it is told to."""

    def __init__(self) -> None:
        self.revision = 0
        self.loads = 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def load(self) -> int:
        self.loads += 1
        seen = self.revision
        await self.gate.wait()
        return seen


def make(size: int = 10, seconds: float = 60.0) -> tuple[RevisionedCache[int], ManualClock]:
    clock = ManualClock()
    return RevisionedCache(size=size, seconds=seconds, clock=clock), clock


async def test_a_value_is_loaded_once_for_its_revision() -> None:
    cache, _ = make()
    database = Database()
    assert [await cache.get("a", 0, database.load) for _ in range(3)] == [0, 0, 0]
    assert database.loads == 1
    assert cache.peek("a", 0) == 0
    assert cache.peek("a", 1) is None


async def test_a_raised_revision_is_loaded_again() -> None:
    cache, _ = make()
    database = Database()
    await cache.get("a", 0, database.load)
    database.revision = 1
    assert await cache.get("a", 1, database.load) == 1
    assert await cache.get("a", 0, database.load) == 1, "newer than asked is fine"
    assert database.loads == 2


async def test_callers_share_a_load() -> None:
    cache, _ = make()
    database = Database()
    database.gate.clear()
    callers = [asyncio.create_task(cache.get("a", 0, database.load)) for _ in range(20)]
    await asyncio.sleep(0)
    database.gate.set()
    assert await asyncio.gather(*callers) == [0] * 20
    assert database.loads == 1


async def test_a_load_that_began_before_a_raise_is_not_taken_for_newer() -> None:
    cache, _ = make()
    database = Database()
    database.gate.clear()
    old = asyncio.create_task(cache.get("a", 0, database.load))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    database.revision = 1
    new = asyncio.create_task(cache.get("a", 1, database.load))
    await asyncio.sleep(0)
    database.gate.set()
    assert await old == 0
    assert await new == 1
    assert await cache.get("a", 1, database.load) == 1
    assert database.loads == 2


async def test_an_old_load_that_ends_last_does_not_replace_the_new_one() -> None:
    cache, _ = make()
    slow = asyncio.Event()

    async def old() -> int:
        await slow.wait()
        return 0

    async def new() -> int:
        return 1

    waiting = asyncio.create_task(cache.get("a", 0, old))
    await asyncio.sleep(0)
    assert await cache.get("a", 1, new) == 1
    slow.set()
    assert await waiting == 0
    assert cache.peek("a", 1) == 1


async def test_an_eviction_in_the_middle_of_a_load_serves_nothing_stale() -> None:
    cache, _ = make()
    database = Database()
    database.gate.clear()
    old = asyncio.create_task(cache.get("a", 0, database.load))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    database.revision = 1
    cache.evict("a")
    database.gate.set()
    assert await old == 0
    assert await cache.get("a", 1, database.load) == 1


async def test_a_failed_load_is_told_to_all_and_not_kept() -> None:
    cache, _ = make()

    async def fail() -> NoReturn:
        await asyncio.sleep(0)
        raise ConnectionError("gone")

    answers = await asyncio.gather(*(cache.get("a", 0, fail) for _ in range(3)), return_exceptions=True)
    assert [str(answer) for answer in answers] == ["gone"] * 3
    assert await cache.get("a", 0, Database().load) == 0


async def test_a_failed_load_that_nobody_waits_for_any_more_is_quiet() -> None:
    cache, _ = make()
    gate = asyncio.Event()

    async def fail() -> NoReturn:
        await gate.wait()
        raise ConnectionError("gone")

    caller = asyncio.create_task(cache.get("a", 0, fail))
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    gate.set()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    gc.collect(1)  # the loop watch of the tests would report it


async def test_a_cancelled_caller_does_not_end_the_load_of_the_others() -> None:
    cache, _ = make()
    database = Database()
    database.gate.clear()
    first = asyncio.create_task(cache.get("a", 0, database.load))
    second = asyncio.create_task(cache.get("a", 0, database.load))
    await asyncio.sleep(0)
    first.cancel()
    database.gate.set()
    assert await second == 0
    assert database.loads == 1


async def test_loads_that_are_started_at_once_end_at_once_and_fail_at_once() -> None:
    cache, _ = make()
    database = Database()
    database.gate.clear()
    tasks = [cache.loading(owner, 0, database.load) for owner in "ab"]
    assert cache.loading("a", 0, database.load) is tasks[0], "it is under way"
    await asyncio.sleep(0)
    assert database.loads == 2
    database.gate.set()
    assert [await task for task in tasks] == [0, 0]
    assert await cache.get("b", 0, database.load) == 0
    assert database.loads == 2

    async def fail() -> NoReturn:
        raise OSError("gone")

    tasks = [cache.loading(owner, 1, fail) for owner in "ab"]
    with pytest.raises(OSError, match="gone"):
        await tasks[0]
    await asyncio.sleep(0)
    del tasks
    gc.collect(1)  # nobody awaited the other one; the loop watch of the tests would report it
    assert cache.peek("a", 1) is None
    assert cache.peek("b", 0) == 0


async def test_values_expire_and_their_number_is_bounded() -> None:
    cache, clock = make(size=3, seconds=10.0)
    database = Database()
    for owner in "abcde":
        await cache.get(owner, 0, database.load)
    assert len(cache) == 3
    clock.seconds = 11.0
    assert len(cache) == 0
    await cache.get("e", 0, database.load)
    assert database.loads == 6
    cache.clear()
    assert len(cache) == 0


async def test_a_cache_may_be_bounded_by_weight() -> None:
    cache = RevisionedCache[str](size=10, seconds=60.0, clock=ManualClock(), weigh=len)

    async def load(text: str) -> str:
        return text

    assert await cache.get("a", 0, lambda: load("12345678")) == "12345678"
    assert await cache.get("b", 0, lambda: load("1234")) == "1234"
    assert cache.peek("a", 0) is None
    assert await cache.get("c", 0, lambda: load("x" * 11)) == "x" * 11
    assert cache.peek("c", 0) is None
    assert cache.peek("b", 0) == "1234"


@given(
    st.lists(
        st.tuples(st.sampled_from(["read", "raise", "evict", "step", "expire"]), st.sampled_from("ab")), max_size=60
    )
)
def test_nobody_ever_gets_less_than_the_revision_that_was_read(actions: list[tuple[str, str]]) -> None:
    async def scenario() -> None:
        cache, clock = make(size=2, seconds=10.0)
        revisions = {"a": 0, "b": 0}
        readers = []

        async def load(owner: str) -> int:
            seen = revisions[owner]
            for _ in range(3):
                await asyncio.sleep(0)
            return seen

        async def reader(owner: str) -> None:
            wanted = revisions[owner]
            await asyncio.sleep(0)
            assert await cache.get(owner, wanted, lambda: load(owner)) >= wanted

        for action, owner in actions:
            if action == "read":
                readers.append(asyncio.create_task(reader(owner)))
            elif action == "raise":
                revisions[owner] += 1
            elif action == "evict":
                cache.evict(owner)
            elif action == "expire":
                clock.seconds += 6.0
            else:
                await asyncio.sleep(0)
        await asyncio.gather(*readers)

    asyncio.run(scenario())
