"""Tasks that nobody awaits: kept, so that they are not collected, and their failures logged."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from agent import logs

if TYPE_CHECKING:
    from collections.abc import Coroutine

log = logs.get_logger(__name__)


class Background:
    """Holds tasks until they end."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run `work` as a task; its failure is logged."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("background_task_failed", task=task.get_coro(), exc_info=error)

    @property
    def is_busy(self) -> bool:
        """Tell whether a task is left."""
        return bool(self._tasks)

    async def idle(self) -> None:
        """Return when no task is left."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def stop(self) -> None:
        """Cancel every task and wait for its end."""
        tasks = set(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
