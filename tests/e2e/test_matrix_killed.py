"""`isthmus run` at a real Synapse, killed in the middle of turns: answered once, remembered once."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tomlkit

from tests.bridges.matrix.conftest import running
from tests.servers.synapse import Person, Synapse

ROOT = Path(__file__).parents[2]
STEPS = ("begin:after:1", "tool:after:1", "finish:after:1", "settle:before:1")


@pytest.fixture(scope="module")
def synapse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Synapse]:
    yield from running(tmp_path_factory.mktemp("synapse"))


class MatrixProcess:
    """An agent in a process of its own."""

    def __init__(self, synapse: Synapse, account: Person, folder: Path, database_url: str) -> None:
        self.step = folder / "step"
        self._folder = folder
        self._process: asyncio.subprocess.Process | None = None
        faults = {"module": "tests.e2e.faults", "step": str(self.step), "log": str(folder / "tools"), "pace": 0.0}
        matrix = {
            "homeserver": synapse.url,
            "user": account.user_id,
            "password": account.password,
            "invitations": {"everybody": True},
        }
        tables: dict[str, Any] = {
            "agent": {"embeddings": "off"},
            "database": {"url": database_url},
            "plugins": {"memory": {}, "faults": faults},
            "bridges": {"matrix": matrix},
        }
        (folder / "plugins.toml").write_text(tomlkit.dumps(tables))

    async def start(self) -> None:
        """Start it."""
        options = ["--config", str(self._folder / "plugins.toml"), "--data", str(self._folder / "data")]
        with (self._folder / "agent.log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "agent", "run", *options,
                stdout=log, stderr=log, cwd=ROOT, env={**os.environ, "HOME": str(self._folder)},
            )  # fmt: skip

    async def ended(self) -> int:
        """Wait until it ends by itself."""
        assert self._process is not None
        async with asyncio.timeout(60):
            return await self._process.wait()

    async def kill(self) -> None:
        """Kill it, if it runs."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()


@pytest.mark.timeout(240)
async def test_killed_at_steps_of_a_turn(synapse: Synapse, database_url: str, tmp_path: Path) -> None:
    ana, account = await synapse.person("ana"), await synapse.person("isthmus")
    agent = MatrixProcess(synapse, account, tmp_path, database_url)
    try:
        await agent.start()
        room = await ana.create_room("Kitchen", invite=[account.user_id])
        await ana.joined(room, account.user_id)
        for number, where in enumerate(STEPS):
            if number:
                await agent.start()
            before = len(await ana.said_by(room, account.user_id))
            agent.step.write_text(where)
            await ana.ask(room, account.user_id, f"remember that the word is w{number}")
            assert await agent.ended() == -9, where
            await agent.start()
            await ana.answer(room, account.user_id, before + 2)  # the notice and the answer
            await ana.ask(room, account.user_id, "hello")
            await ana.answer(room, account.user_id, before + 3)
            said = [each["content"] for each in await ana.said_by(room, account.user_id)][before:]
            assert sorted(each["msgtype"] for each in said) == ["m.notice", "m.text", "m.text"], where
            await agent.kill()
    finally:
        await agent.kill()
