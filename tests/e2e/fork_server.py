"""Starts agents in no time: a process that has imported what they need, and becomes one by a fork.

`isthmus run` spends most of its start on imports; a test that starts it a hundred times need not wait for that. What
runs then is the same command. `ForkServer` is the side of the test, `python -m tests.e2e.fork_server` the other one,
which reads a line of JSON for each request: arguments to start an agent with, or a process to wait for.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.testing.process import AgentProcess

ROOT = Path(__file__).parents[2]
PR_SET_PDEATHSIG = 1


@dataclass
class Forked:
    """A process that the server has started."""

    pid: int
    server: ForkServer
    returncode: int | None = None

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    def terminate(self) -> None:
        os.kill(self.pid, signal.SIGTERM)

    async def wait(self) -> int:
        if self.returncode is None:
            await self._end()
            self.returncode = await asyncio.shield(asyncio.ensure_future(self.server.ask({"wait": self.pid})))
        return self.returncode

    async def _end(self) -> None:
        """Return when the process has ended."""
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        descriptor = os.pidfd_open(self.pid)
        loop.add_reader(descriptor, ended.set)
        try:
            await ended.wait()
        finally:
            loop.remove_reader(descriptor)
            os.close(descriptor)


class ForkServer:
    """Starts agents."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._lock = asyncio.Lock()

    async def ask(self, request: dict[str, Any]) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        async with self._lock:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            return int(await self._process.stdout.readline())

    async def start(self, arguments: list[str], log: Path) -> Forked:
        return Forked(await self.ask({"start": arguments, "log": str(log)}), self)


class ForkedAgent(AgentProcess):
    """An agent that a fork server starts."""

    server: ForkServer

    async def launch(self, arguments: list[str]) -> Forked:
        return await self.server.start(arguments, self.log)


@asynccontextmanager
async def fork_server() -> AsyncIterator[ForkServer]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.e2e.fork_server",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
    )
    try:
        yield ForkServer(process)
    finally:
        process.kill()
        await process.communicate()


def serve() -> None:
    """Answer requests until the test is gone."""
    _preload()
    for line in sys.stdin:
        request = json.loads(line)
        if "wait" in request:
            _, status = os.waitpid(request["wait"], 0)
            answer = os.waitstatus_to_exitcode(status)
        elif not (answer := os.fork()):
            _become(request["start"], request["log"])
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


def _preload() -> None:
    from importlib import import_module

    from agent.models.chat import preload

    for name in ("agent.app", "agent.cli.entry", "agent.testing.fake_remote", "plugins.memory", "tests.e2e.faults"):
        import_module(name)
    preload()
    gc.freeze()


def _become(arguments: list[str], log: str) -> None:
    """Be an agent in the place of the server, and die with it."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    output = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.dup2(output, 1)
    os.dup2(output, 2)
    from agent.cli.entry import run_command

    code = 1
    try:
        code = run_command(arguments)
    finally:
        os._exit(code)


if __name__ == "__main__":
    serve()
