"""Finds what holds up the event loop, and exceptions that nobody awaited, while a test runs."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import time
from typing import Any

_WAITED = "/proc/thread-self/schedstat"


class LoopWatch:
    """Watches the running loop from `start` to `stop`, which says what was wrong.

    A callback that holds the loop for longer than `limit` seconds is a fault, unless the machine was so busy that
    the thread spent the difference waiting for a processor. (asyncio's debug mode cannot tell these apart, and makes
    everything several times slower.)
    """

    def __init__(self, limit: float = 0.05) -> None:
        self._limit = limit
        self._faults: list[str] = []
        self._waited: int | None = None
        self._is_on = False
        self.longest = 0.0
        """Seconds of the longest callback so far, without what it waited for a processor."""

    def start(self) -> None:
        """Watch the running loop."""
        gc.freeze()  # a full collection would go through everything that the test session holds: 60 ms
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(self._unhandled)
        with contextlib.suppress(OSError):  # only Linux counts
            self._waited = os.open(_WAITED, os.O_RDONLY | os.O_CLOEXEC)
        self._original = asyncio.Handle._run  # noqa: SLF001  # every callback goes through it
        original, watched, run = self._original, self._loop, self._run

        def timed(handle: Any) -> None:
            if handle._loop is watched:  # noqa: SLF001
                run(handle, original)
            else:
                original(handle)

        setattr(asyncio.Handle, "_run", timed)  # noqa: B010  # mypy takes a method for constant
        self._is_on = True

    def stop(self) -> list[str]:
        """Watch no longer; return the faults found, one line each. The step that calls this is not judged."""
        self._is_on = False
        gc.unfreeze()
        gc.collect(1)  # a task that failed unheard says so when it is collected
        setattr(asyncio.Handle, "_run", self._original)  # noqa: B010
        self._loop.set_exception_handler(None)
        if self._waited is not None:
            os.close(self._waited)
            self._waited = None
        return self._faults

    def _run(self, handle: asyncio.Handle, original: Any) -> None:
        waited = self._waited_seconds()
        began = time.perf_counter()
        try:
            original(handle)
        finally:
            seconds = time.perf_counter() - began
            if self._is_on and seconds > min(self.longest, self._limit):
                own = seconds - (self._waited_seconds() - waited)
                self.longest = max(self.longest, own)
                if own >= self._limit:
                    self._faults.append(f"the event loop was held up for {seconds:.3f} s by {_culprit(handle)!r}")

    def _waited_seconds(self) -> float:
        """Return how long this thread has been ready to run and was given no processor."""
        if self._waited is None:
            return 0.0
        return int(os.pread(self._waited, 100, 0).split()[1]) / 1e9

    def _unhandled(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        self._faults.append(f"the event loop reports: {context['message']} {error!r}")


def _culprit(handle: Any) -> object:
    """Return the task of a step, or the callback that is no step of one."""
    owner = getattr(handle._callback, "__self__", None)  # noqa: SLF001
    return owner if isinstance(owner, asyncio.Task) else handle
