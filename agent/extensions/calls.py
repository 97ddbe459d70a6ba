"""One call of one plugin: awaited with a deadline, and never able to take its caller along."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final

from agent.extensions.results import BadResult, Check

if TYPE_CHECKING:
    from collections.abc import Mapping

GRACE: Final = 0.1
"""Seconds that a cancelled call has to let go of what it holds (the caller's connection, above all)."""


class Reason(StrEnum):
    """How a call failed; a label of the metric `plugin_failures`."""

    RAISED = "raised"
    LATE = "late"
    CANCELLED = "cancelled"
    """It cancelled itself, or raised CancelledError."""
    EXITED = "exited"
    """It raised SystemExit or KeyboardInterrupt."""
    BAD_RESULT = "bad_result"
    NOT_STARTED = "not_started"


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that gave no answer."""

    plugin: str
    hook: str
    reason: Reason
    error: BaseException | None = None
    deadline: float = 0.0

    def __str__(self) -> str:
        """Return what happened as a phrase, the error's own text included: not for a user, nor for a common log."""
        match self.reason:
            case Reason.LATE:
                return f"did not answer within {self.deadline:g} s"
            case Reason.CANCELLED:
                return "cancelled itself"
            case Reason.NOT_STARTED:
                return "has not been started"
            case _:
                text = " ".join(str(self.error).split())
                return f"{type(self.error).__name__}: {text}" if text else type(self.error).__name__


@dataclass(frozen=True, slots=True)
class Call:
    """How one plugin's implementation of one hook is called."""

    plugin: str
    hook: str
    function: Callable[..., Any]
    arguments: tuple[str, ...]
    """The names of the hook's arguments that it takes, in its order."""
    deadline: float
    """Seconds."""
    check: Check


class _Exited(Exception):
    """Carries SystemExit or KeyboardInterrupt past asyncio, which would stop the event loop with it."""


class Caller:
    """Makes calls, and keeps hold of those that go on after they were given up."""

    def __init__(self) -> None:
        self._given_up: set[asyncio.Task[Any]] = set()

    async def ask(self, call: Call, values: Mapping[str, Any]) -> Any:
        """Return what the plugin answers, or a `Failure`. Raises nothing but the CancelledError of its own task."""
        work = _run(call, [values[name] for name in call.arguments])
        # An eager task costs little when the plugin does not suspend; asyncio.timeout could not leave one that
        # swallows its cancellation.
        task = asyncio.Task(work, loop=asyncio.get_running_loop(), eager_start=True)
        if not task.done():
            await self._wait(task, call.deadline)
            if not task.done() or task in self._given_up:
                return Failure(call.plugin, call.hook, Reason.LATE, deadline=call.deadline)
        if task.cancelled():
            return Failure(call.plugin, call.hook, Reason.CANCELLED)
        error = task.exception()
        if error is None:
            return task.result()
        if isinstance(error, _Exited):
            return Failure(call.plugin, call.hook, Reason.EXITED, error.__cause__)
        reason = Reason.BAD_RESULT if isinstance(error, BadResult) else Reason.RAISED
        return Failure(call.plugin, call.hook, reason, error)

    async def _wait(self, task: asyncio.Task[Any], deadline: float) -> None:
        """Wait for the task; give it up when it is late, or when whoever waits is cancelled."""
        try:
            await asyncio.wait({task}, timeout=deadline)
        except asyncio.CancelledError:
            await self._give_up(task)
            raise
        if not task.done():
            await self._give_up(task)

    async def _give_up(self, task: asyncio.Task[Any]) -> None:
        self._given_up.add(task)
        task.cancel()
        try:
            await asyncio.wait({task}, timeout=GRACE)
        finally:
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._given_up.discard(task)
        if not task.cancelled():
            task.exception()  # looked at, so that asyncio does not report what nobody waits for

    async def close(self) -> int:
        """End the calls that were given up and still run; return how many there were.

        Closing an event loop waits for every task, so one that swallows its cancellation would keep the process.
        """
        left = set(self._given_up)
        if not left:
            return 0
        for task in left:
            task.cancel()
        _, left_over = await asyncio.wait(left, timeout=GRACE)
        for task in left_over:
            _close(task)
        if left_over:
            await asyncio.wait(left_over, timeout=GRACE)
        for task in left_over:
            if not task.done():
                asyncio._unregister_task(task)  # noqa: SLF001 - documented for this
        return len(left)


def _close(task: asyncio.Task[Any]) -> None:
    """Close the coroutine below a task: GeneratorExit passes where CancelledError is swallowed."""
    work = task.get_coro()
    if isinstance(work, CoroutineType):
        with suppress(BaseException):  # the plugin's last word, for which nobody waits
            work.close()
    task.cancel()  # wakes the task, which then finds its coroutine closed and ends


async def _run(call: Call, arguments: list[Any]) -> Any:
    """Run one implementation. The watchdog knows by this frame, and its `call`, whose code blocks the loop."""
    try:
        result = call.function(*arguments)
        if type(result) is CoroutineType or isinstance(result, Awaitable):
            result = await result
        return call.check(result)
    except (SystemExit, KeyboardInterrupt) as error:
        raise _Exited from error


RUN_CODE: Final = _run.__code__
