"""`isthmus run` in the loopback Discord, in a process of its own: killed and started again."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import tomlkit

from tests.servers.discord.loopback import LoopbackDiscord

ROOT = Path(__file__).parents[3]
PATIENCE = 60.0


class DiscordProcess:
    """An agent that answers in a loopback Discord of this process."""

    def __init__(self, discord: LoopbackDiscord, folder: Path, tables: Mapping[str, Any]) -> None:
        self.discord = discord
        self.log = folder / "agent.log"
        self._folder = folder
        self._process: asyncio.subprocess.Process | None = None
        section = {
            "token": discord.token,
            "api_base": discord.api_base,
            "cdn_base": discord.cdn_base,
            "ready_seconds": 0.05,
        }
        bridges = {**tables.get("bridges", {}), "discord": section}
        (folder / "plugins.toml").write_text(tomlkit.dumps({**tables, "bridges": bridges}))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.kill()

    async def start(self) -> None:
        """Start it; returns when its session has begun."""
        before = len(self._begun())
        options = ["--config", str(self._folder / "plugins.toml"), "--data", str(self._folder / "data")]
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "agent", "run", *options,
                stdout=log, stderr=log, cwd=ROOT, env={**os.environ, "HOME": str(self._folder)},
            )  # fmt: skip
        ended = asyncio.ensure_future(self._process.wait())
        begun = asyncio.ensure_future(self.discord.until(lambda: len(self._begun()) > before, PATIENCE, "session"))
        try:
            await asyncio.wait({ended, begun}, return_when=asyncio.FIRST_COMPLETED)
            assert begun.done(), f"the agent ended:\n{self.log.read_text()[-4000:]}"
            await begun
        finally:
            ended.cancel()
            begun.cancel()

    def _begun(self) -> list[dict[str, Any]]:
        return [frame for frame in self.discord.gateway.received if frame["op"] == 2]

    async def kill(self) -> None:
        """Kill it at once, as a power cut does."""
        process, self._process = self._process, None
        if process is not None:
            if process.returncode is None:
                process.kill()
            await process.wait()

    async def ended(self) -> int:
        """Wait until it ends by itself; return the exit code, negative for a signal."""
        assert self._process is not None
        process, self._process = self._process, None
        async with asyncio.timeout(PATIENCE):
            return await process.wait()

    async def stop(self) -> int:
        """Stop it as an operator does."""
        assert self._process is not None
        self._process.terminate()
        return await self.ended()
