import asyncio
import time

import pytest

from agent.testing.loop_watch import LoopWatch


@pytest.mark.unwatched_loop
async def test_a_callback_that_holds_the_loop_is_found() -> None:
    watch = LoopWatch()
    watch.start()
    asyncio.get_running_loop().call_soon(time.sleep, 0.2)
    await asyncio.sleep(0.01)
    (fault,) = watch.stop()
    assert "held up" in fault
    assert "sleep" in fault


@pytest.mark.unwatched_loop
async def test_the_task_that_holds_the_loop_is_named() -> None:
    async def lazy() -> None:
        time.sleep(0.1)  # noqa: ASYNC251  # the fault

    watch = LoopWatch()
    watch.start()
    await asyncio.create_task(lazy(), name="the lazy one")
    (fault,) = watch.stop()
    assert "the lazy one" in fault


@pytest.mark.unwatched_loop
async def test_an_exception_that_nobody_handles_is_found() -> None:
    async def fail() -> None:
        raise ValueError("nobody looks")

    watch = LoopWatch()
    watch.start()
    task = asyncio.create_task(fail())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    del task
    (fault,) = watch.stop()
    assert "nobody looks" in fault


@pytest.mark.unwatched_loop
async def test_waiting_is_no_fault() -> None:
    watch = LoopWatch()
    watch.start()
    await asyncio.sleep(0.2)
    assert watch.stop() == []


@pytest.mark.unwatched_loop
async def test_the_step_that_stops_it_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    watch = LoopWatch()
    # What a thread has waited for a processor is known only while the watch is on.
    monkeypatch.setattr(watch, "_waited_seconds", lambda: 0.0 if watch._waited is None else 38.0)

    async def stop() -> None:
        time.sleep(0.06)  # noqa: ASYNC251  # the end takes long
        assert watch.stop() == []

    watch.start()
    await asyncio.create_task(stop())
    assert watch.longest < 1
