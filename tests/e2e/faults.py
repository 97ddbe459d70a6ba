"""A plugin that makes the agent die at a chosen step, and watches that no tool runs twice. For tests only.

It wraps the methods that the steps of a turn go through, so production code has no hooks for this. The step stands in
a file that the test writes while the agent runs; an agent dies once, and the next one finds the file gone.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections import Counter
from collections.abc import Awaitable, Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from agent.core import Core
from agent.hookspecs import hookimpl
from agent.models.chat import ChatModel
from agent.settings import Section
from agent.store.inbound import Inbound
from agent.store.notices import WithdrawalRows
from agent.store.outbox import OutboxRows
from agent.testing.fake_bridge import FakeBridge
from agent.tools import ToolContext, ToolResult
from plugins.memory.repository import MemoryRepository

ALREADY: Final = "SELECT count(*) FROM server_memories WHERE source_message_id = $1"

WRAPPED: Final[dict[str, tuple[type, str]]] = {
    "receive": (Inbound, "receive"),
    "deletion": (Inbound, "receive_deletion"),
    "forget": (MemoryRepository, "remove"),
    "begin": (Inbound, "begin"),
    "history": (FakeBridge, "history"),
    "request": (ChatModel, "request"),
    "checkpoint": (Inbound, "write_checkpoint"),
    "finish": (Inbound, "finish"),
    "send": (FakeBridge, "send"),
    "settle": (OutboxRows, "settle"),
    "withdraw": (FakeBridge, "withdraw"),
    "withdrawn": (WithdrawalRows, "settle"),
}
STEPS: Final = (
    "receive:before:1",
    "receive:after:1",
    "begin:before:1",
    "begin:after:1",
    "history:after:1",
    "request:before:1",
    "request:after:1",
    "tool:before:1",
    "checkpoint:before:1",
    "checkpoint:after:1",  # inside the tool's transaction
    "tool:after:1",
    "request:before:2",  # between the tool's commit and the answer
    "request:after:2",
    "finish:before:1",
    "finish:after:1",
    "send:before:1",  # of the notice
    "send:after:1",
    "settle:after:1",
    "send:before:2",  # of the answer
    "send:after:2",
    "settle:before:2",
    "settle:after:2",
)
"""Every step of a turn that saves a memory, in order; the number counts since the step was chosen."""

DELETION_STEPS: Final = (
    "deletion:before:1",
    "deletion:after:1",
    "forget:before:1",
    "forget:after:1",  # inside the transaction of the removal
    "finish:before:1",  # between the removal and the notice
    "finish:after:1",
    "send:before:1",  # of the notice
    "settle:after:1",
)
"""Every step from the deletion of a message of which a memory was made."""


class Plugin:
    """Dies when it is told to."""

    name = "faults"

    class Settings(Section):
        """`[plugins.faults]`."""

        step: str
        """The file that names the step at which to die."""
        log: str
        """The file that is told of each run of a tool."""
        pace: float = 0.0
        """Seconds that each step takes longer, so that a turn can be hit anywhere."""

    def __init__(self, settings: Settings) -> None:
        self._step = Path(settings.step)
        self._log = Path(settings.log)
        self._pace = settings.pace
        self._reached: Counter[str] = Counter()
        self._armed = ""
        self._core: Core | None = None

    @hookimpl
    async def start(self, core: Core) -> None:
        """Wrap the steps."""
        self._core = core
        for name, (owner, method) in WRAPPED.items():
            setattr(owner, method, self._wrapped(name, getattr(owner, method)))
        loop: Any = import_module("agent.turn.loop")
        loop.run_tool = self._watched(loop.run_tool)

    def _wrapped(self, name: str, original: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def stepped(*args: Any, **kwargs: Any) -> Any:
            await self._pass(f"{name}:before")
            result = await original(*args, **kwargs)
            await self._pass(f"{name}:after")
            return result

        return stepped

    def _watched(self, original: Callable[..., Awaitable[ToolResult]]) -> Callable[..., Awaitable[ToolResult]]:
        async def watched(tool: Any, raw: Any, context: ToolContext, **more: Any) -> ToolResult:
            assert self._core is not None
            async with self._core.store.connection() as conn:
                already = await conn.fetchval(ALREADY, context.message_id)
            self._tell(message_id=context.message_id, already=already)
            await self._pass("tool:before")
            result = await original(tool, raw, context, **more)
            await self._pass("tool:after")
            self._tell(message_id=context.message_id, status=result.status)
            return result

        return watched

    async def _pass(self, point: str) -> None:
        armed = self._step.read_text() if self._step.exists() else ""
        if armed != self._armed:
            self._armed = armed
            self._reached.clear()
        self._reached[point] += 1
        if armed == f"{point}:{self._reached[point]}":
            self._step.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        if self._pace:
            await asyncio.sleep(self._pace)

    def _tell(self, **fields: Any) -> None:
        with self._log.open("a") as log:
            log.write(json.dumps(fields) + "\n")
