"""One turn at a time per conversation, in order, bounded."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from agent import logs

log = logs.get_logger(__name__)


class ConversationQueue[Job]:
    """Runs jobs: those of one conversation one after another, conversations side by side up to `at_once`."""

    def __init__(self, run: Callable[[Job], Awaitable[None]], *, bound: int, at_once: int) -> None:
        self._run = run
        self._bound = bound
        self._slots = asyncio.Semaphore(at_once)
        self._waiting: dict[str, deque[Job]] = {}
        self._running: dict[str, Job] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._current: dict[str, asyncio.Task[None]] = {}
        self._halted: dict[str, asyncio.Event] = {}
        self._closed = False
        self._open = asyncio.Event()

    def start(self) -> None:
        """Begin to run what is queued; until then jobs only wait."""
        self._open.set()

    def put(self, conversation: str, job: Job) -> bool:
        """Queue a job; False when the conversation has as many waiting as it may, or the queue is closed."""
        waiting = self._waiting.get(conversation)
        if self._closed or (waiting is not None and len(waiting) >= self._bound):
            return False
        if waiting is None:
            waiting = self._waiting[conversation] = deque()
        waiting.append(job)
        if conversation not in self._tasks:
            self._tasks[conversation] = asyncio.create_task(self._work(conversation), name=f"turns {conversation}")
        return True

    def remove(self, conversation: str, matches: Callable[[Job], bool]) -> tuple[Job, ...]:
        """Take out the waiting jobs that match."""
        waiting = self._waiting.get(conversation, deque())
        taken = tuple(job for job in waiting if matches(job))
        for job in taken:
            waiting.remove(job)
        return taken

    def change(self, conversation: str, matches: Callable[[Job], bool], change: Callable[[Job], Job]) -> None:
        """Put something else in the place of each waiting job that matches."""
        waiting = self._waiting.get(conversation, deque())
        for place, waits in enumerate(waiting):
            if matches(waits):
                waiting[place] = change(waits)

    async def halt(self, conversation: str, matches: Callable[[Job], bool]) -> Job | None:
        """Cancel the running job of a conversation if it matches, and return it; nothing runs there until `resume`."""
        job, task = self._running.get(conversation), self._current.get(conversation)
        if job is None or task is None or not matches(job):
            return None
        self._halted[conversation] = asyncio.Event()
        task.cancel()
        await asyncio.wait({task})
        return job

    def resume(self, conversation: str, job: Job | None) -> None:
        """Go on after `halt`: with this job, if there is one, then with what waits."""
        if job is not None and not self._closed:
            self._waiting[conversation].appendleft(job)
        self._halted.pop(conversation).set()

    def running(self, conversation: str) -> Job | None:
        """Return the job that runs in a conversation now."""
        return self._running.get(conversation)

    async def abort(self, conversation: str) -> tuple[Job, ...]:
        """Cancel the running job of a conversation and take out what waits; return all of them, the running first."""
        dropped = self.remove(conversation, lambda _job: True)
        job, task = self._running.get(conversation), self._current.get(conversation)
        if task is None or job is None:
            return dropped
        task.cancel()
        await asyncio.wait({task})
        return (job, *dropped)

    @property
    def is_closed(self) -> bool:
        """Tell whether nothing is taken any more."""
        return self._closed

    @property
    def is_busy(self) -> bool:
        """Tell whether anything runs or waits."""
        return bool(self._tasks)

    async def idle(self) -> None:
        """Return when nothing runs or waits."""
        while self._tasks:
            await asyncio.wait(set(self._tasks.values()))

    async def close(self, grace: float) -> None:
        """Take nothing more; give what runs `grace` seconds, then cancel it. What waits stays in the database."""
        self._closed = True
        for waiting in self._waiting.values():
            waiting.clear()
        tasks = set(self._tasks.values())
        if tasks:
            await asyncio.wait(tasks, timeout=grace)
        for task in [*self._current.values(), *self._tasks.values()]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _work(self, conversation: str) -> None:
        waiting = self._waiting[conversation]
        try:
            await self._open.wait()
            while waiting:
                async with self._slots:
                    if waiting:
                        await self._one(conversation, waiting.popleft())
                if (halted := self._halted.get(conversation)) is not None:
                    await halted.wait()
        finally:
            del self._waiting[conversation], self._tasks[conversation]

    async def _one(self, conversation: str, job: Job) -> None:
        """Run one job in a task of its own, so that it can be aborted without ending the conversation."""
        task = asyncio.ensure_future(self._run(job))
        self._running[conversation], self._current[conversation] = job, task
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({task})
            raise
        finally:
            del self._running[conversation], self._current[conversation]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("turn_raised", conversation=conversation, exc_info=error)
