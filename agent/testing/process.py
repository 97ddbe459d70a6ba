"""An agent in a process of its own, as an operator runs it: started, killed, started again."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

import tomlkit

from agent.testing.fake_bridge import bridge_section

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from agent.testing.fake_delivery import Listener
    from agent.testing.fake_platform import FakePlatform

PATIENCE: Final = 30.0
"""Seconds that a start or a graceful end may take."""


class AgentEnded(RuntimeError):
    """The process ended where it should not have; the text is what it said."""


class Process(Protocol):
    """A process that was started, as `asyncio.subprocess.Process` is one."""

    @property
    def pid(self) -> int:
        """Return its number."""
        ...

    @property
    def returncode(self) -> int | None:
        """Return the exit code, negative for a signal; None while it is not known to have ended."""
        ...

    def kill(self) -> None:
        """Send SIGKILL."""
        ...

    def terminate(self) -> None:
        """Send SIGTERM."""
        ...

    async def wait(self) -> int:
        """Return the exit code when it has ended."""
        ...


class AgentProcess:
    """`isthmus run` on a platform that is served at `socket` in `directory` (`agent.testing.fake_remote.serve`).

    Args:
        platform: The platform of this process that it shall answer on.
        directory: Where its plugins.toml, log and data go.
        tables: What plugins.toml says; the fake bridge is added.
        working_directory: Where it runs, so that local modules are found.

    """

    def __init__(
        self,
        platform: FakePlatform,
        directory: Path,
        tables: Mapping[str, Any],
        *,
        working_directory: Path | None = None,
    ) -> None:
        self.socket = directory / "platform.sock"
        self.log = directory / "agent.log"
        """What it has said, over all its lives."""
        self._platform = platform
        self._directory = directory
        self._working_directory = working_directory
        self._process: Process | None = None
        self._listener: Listener | None = None
        bridges = {"fake": bridge_section(platform, self.socket)}
        (directory / "plugins.toml").write_text(tomlkit.dumps({**tables, "bridges": bridges}))

    async def __aenter__(self) -> Self:
        """Begin a block at whose end it does not run any more."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Kill it if it still runs."""
        await self.kill()

    @property
    def pid(self) -> int:
        """Return the process number.

        Raises:
            AgentEnded: it does not run.
        """
        if self._process is None:
            raise AgentEnded("the agent was not started")
        return self._process.pid

    async def start(self) -> None:
        """Start it; returns when it has connected to the platform.

        Raises:
            AgentEnded: it ended instead.
        """
        options = ["--config", str(self._directory / "plugins.toml"), "--data", str(self._directory / "data")]
        events = self._platform.events
        before = events.connections
        self._process = await self.launch(["run", *options])
        connected = asyncio.ensure_future(events.connected(before + 1))
        ended = asyncio.ensure_future(self._process.wait())
        try:
            await asyncio.wait({connected, ended}, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
            if not connected.done():
                await self.kill()
                raise AgentEnded(f"the agent did not connect:\n{self.log.read_text()[-4000:]}")
            self._listener = events.listener
        finally:
            connected.cancel()
            ended.cancel()

    async def launch(self, arguments: list[str]) -> Process:
        """Start a process that runs `isthmus` with these arguments and says what it says into the log."""
        with self.log.open("ab") as log:
            return await asyncio.create_subprocess_exec(
                sys.executable, "-m", "agent", *arguments, stdout=log, stderr=log, cwd=self._working_directory
            )

    async def kill(self) -> None:
        """Kill it at once, as a power cut does (SIGKILL)."""
        process, self._process = self._process, None
        if process is not None:
            if process.returncode is None:
                process.kill()
            await process.wait()
            await self._noticed()

    async def stop(self) -> int:
        """Stop it as an operator does (SIGTERM); return the exit code."""
        process, self._process = self._process, None
        if process is None:
            raise AgentEnded("the agent was not started")
        process.terminate()
        async with asyncio.timeout(PATIENCE):
            return await process.wait()

    async def ended(self) -> int:
        """Wait until it ends by itself; return the exit code, negative for a signal."""
        process, self._process = self._process, None
        if process is None:
            raise AgentEnded("the agent was not started")
        async with asyncio.timeout(PATIENCE):
            code = await process.wait()
        await self._noticed()
        return code

    async def _noticed(self) -> None:
        """Return when the platform knows that it is gone."""
        if self._listener is not None:
            await self._platform.events.gone(self._listener)
