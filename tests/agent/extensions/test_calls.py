from __future__ import annotations

import asyncio
import contextvars
import gc
from collections.abc import Callable
from typing import Any

import pytest

from agent.extensions.calls import GRACE, Call, Caller, Failure, Reason
from agent.extensions.results import BadResult


def call(
    function: Callable[..., Any], deadline: float = 0.02, check: Callable[[Any], Any] = lambda result: result
) -> Call:
    return Call("plugin", "hook", function, ("value",), deadline, check)


async def ask(function: Callable[..., Any], **options: Any) -> Any:
    return await Caller().ask(call(function, **options), {"value": 7, "more": 8})


async def test_sync_and_async_implementations_get_the_arguments_they_name() -> None:
    async def later(value: int) -> int:
        await asyncio.sleep(0)
        return value + 1

    assert await ask(lambda value: value) == 7
    assert await ask(later) == 8
    assert await ask(lambda value: later(value + 1)) == 9


@pytest.mark.parametrize(
    ("error", "reason", "text"),
    [
        (ValueError("a\nb"), Reason.RAISED, "ValueError: a b"),
        (StopIteration(), Reason.RAISED, "RuntimeError: coroutine raised StopIteration"),
        (GeneratorExit(), Reason.RAISED, "GeneratorExit"),
        (asyncio.CancelledError(), Reason.CANCELLED, "cancelled itself"),
        (TimeoutError(), Reason.RAISED, "TimeoutError"),
        (SystemExit(3), Reason.EXITED, "SystemExit: 3"),
        (KeyboardInterrupt(), Reason.EXITED, "KeyboardInterrupt"),
    ],
)
@pytest.mark.parametrize("suspends", [False, True])
async def test_whatever_is_raised_is_a_failure(error: BaseException, reason: Reason, text: str, suspends: bool) -> None:
    async def fails(value: int) -> None:
        if suspends:
            await asyncio.sleep(0)
        raise error

    failure = await ask(fails)
    assert isinstance(failure, Failure)
    assert (failure.reason, str(failure)) == (reason, text)


async def test_a_result_that_the_check_refuses_is_a_failure() -> None:
    def refuse(result: object) -> None:
        raise BadResult("junk")

    failure = await ask(lambda value: value, check=refuse)
    assert (failure.reason, str(failure)) == (Reason.BAD_RESULT, "BadResult: junk")


async def test_a_late_call_has_let_go_of_what_it_holds_when_the_failure_is_told() -> None:
    held = asyncio.Lock()

    async def holds(value: int) -> None:
        async with held:
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(GRACE / 10)

    failure = await ask(holds)
    assert (failure.reason, str(failure)) == (Reason.LATE, "did not answer within 0.02 s")
    assert not held.locked()


async def test_what_a_late_call_answers_in_the_end_is_not_used() -> None:
    async def stubborn(value: int) -> int:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return value
        raise AssertionError

    failure = await ask(stubborn)
    assert failure.reason is Reason.LATE


async def test_a_late_call_that_goes_on_is_kept_and_its_error_heard() -> None:
    ended = asyncio.Event()

    async def stubborn(value: int) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await ended.wait()
            raise ValueError from None

    caller = Caller()
    failure = await caller.ask(call(stubborn), {"value": 1})
    assert failure.reason is Reason.LATE
    gc.collect()
    assert len(caller._given_up) == 1
    ended.set()
    await asyncio.sleep(0.01)
    assert await caller.close() == 0


async def test_the_callers_cancellation_reaches_the_call_first() -> None:
    order: list[str] = []
    begun = asyncio.Event()

    async def slow(value: int) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            order.append("plugin")

    async def asks() -> None:
        try:
            await ask(slow, deadline=5)
        finally:
            order.append("caller")

    task = asyncio.create_task(asks())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert order == ["plugin", "caller"]


async def test_the_callers_timeout_is_kept() -> None:
    async def slow(value: int) -> None:
        await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await ask(slow, deadline=5)


async def test_a_failure_at_the_moment_of_the_callers_cancellation_is_heard() -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    async def fails(value: int) -> None:
        begun.set()
        await go.wait()
        raise ValueError

    task = asyncio.create_task(ask(fails, deadline=5))
    await begun.wait()
    go.set()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_context_variables_of_a_plugin_stay_its_own() -> None:
    variable = contextvars.ContextVar("variable", default="ours")

    def sets(value: int) -> None:
        variable.set("its own")

    await ask(sets)
    assert variable.get() == "ours"


def test_a_loop_closes_though_a_call_swallows_its_cancellation() -> None:
    async def swallows(value: int) -> None:
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                continue

    async def main() -> int:
        caller = Caller()
        await caller.ask(call(swallows), {"value": 1})
        return await caller.close()

    assert asyncio.run(main()) == 1
