"""Two processes on one database, and an operator who stops and starts one in the middle of a conversation."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agent.testing.fake_platform import FakePlatform
from agent.testing.fake_remote import serve
from agent.testing.fake_values import Replay
from agent.testing.process import AgentEnded, AgentProcess
from tests.e2e.killed_agent import killed_agent


async def test_a_second_agent_on_one_account_says_so(database_url: str, tmp_path: Path) -> None:
    platform = FakePlatform(identity="bot-account")
    tables: dict[str, Any] = {"agent": {"embeddings": "off"}, "database": {"url": database_url}}
    directories = [tmp_path / "first", tmp_path / "second"]
    for directory in directories:
        directory.mkdir()
    first, second = (AgentProcess(platform, directory, tables) for directory in directories)
    async with serve(platform, first.socket), first, second:
        await first.start()
        second.socket.symlink_to(first.socket)
        with pytest.raises(AgentEnded, match="another isthmus run already serves this account"):
            await second.start()
        assert (await platform.ask("ana", "hello")).text
        assert len(platform.from_agent) == 1
        assert await first.stop() == 0


@pytest.mark.timeout(120)
async def test_an_agent_that_is_stopped_and_started_answers_everything_once(database_url: str, tmp_path: Path) -> None:
    async with killed_agent(database_url, tmp_path, pace=0.002) as agent:
        assert agent.platform.events.replay is Replay.EVERYTHING
        for _ in range(3):
            await agent.process.start()
            for _ in range(4):
                await agent.say(wait=False)
            await asyncio.sleep(0.05)
            assert await agent.process.stop() == 0
        await agent.process.start()
        await agent.settled()
        report = await agent.check()
    assert report.states == {"answered": 12}
