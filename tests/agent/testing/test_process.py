from __future__ import annotations

from pathlib import Path

import pytest

from agent.testing.fake_platform import FakePlatform
from agent.testing.fake_remote import serve
from agent.testing.fake_values import Replay
from agent.testing.process import AgentEnded, AgentProcess


def tables(database_url: str, **agent: object) -> dict[str, object]:
    return {"agent": agent, "database": {"url": database_url}, "plugins": {"memory": {"enabled": False}}}


async def test_it_comes_back(database_url: str, tmp_path: Path) -> None:
    platform = FakePlatform(replay=Replay.EVERYTHING)
    agent = AgentProcess(platform, tmp_path, tables(database_url))
    async with serve(platform, agent.socket), agent:
        await agent.start()
        said = await platform.say("ana", "hello")
        await agent.kill()
        await agent.start()
        answer = await platform.answer(said)
        assert await agent.stop() == 0
    assert "ana" in answer.text
    assert len(platform.answers_to(said)) == 1


async def test_one_that_does_not_start_says_why(tmp_path: Path) -> None:
    platform = FakePlatform()
    agent = AgentProcess(platform, tmp_path, {"agent": {"nmae": "Robin"}})
    async with serve(platform, agent.socket), agent:
        with pytest.raises(AgentEnded, match=r"agent\.nmae: no such key"):
            await agent.start()
