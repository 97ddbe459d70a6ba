"""What must be shown 3: an agent that is killed loses nothing, doubles nothing, and finishes what it had begun.

The soak (tests/soak/test_kill.py) kills it more often.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.testing.fake_values import FakeMessage
from tests.e2e.faults import DELETION_STEPS, STEPS
from tests.e2e.killed_agent import MEMORIES, KilledAgent, kill_at_random, killed_agent

INTERRUPTIONS = 8


@pytest.mark.timeout(120)
async def test_killed_at_random_moments(database_url: str, tmp_path: Path) -> None:
    async with killed_agent(database_url, tmp_path, pace=0.004) as agent:
        kills = await kill_at_random(agent, INTERRUPTIONS, seed=2026)
        await agent.check()
        answered = [message for message in kills.interrupted if agent.platform.answers_to(message)]
        assert len(answered) == INTERRUPTIONS  # each was interrupted once, and may be begun twice


@pytest.mark.timeout(180)
@pytest.mark.parametrize("has_keys", [True, False], ids=["keys", "no-keys"])
async def test_killed_at_every_step_of_a_turn(database_url: str, tmp_path: Path, has_keys: bool) -> None:
    async with killed_agent(database_url, tmp_path, has_keys=has_keys) as agent:
        for step in STEPS:
            await agent.process.start()
            await agent.settled()
            agent.step_file.write_text(step)
            await agent.say(wait=False)
            assert await agent.process.ended() == -9, step
            assert not agent.step_file.exists(), step
        await agent.process.start()
        await agent.settled()
        report = await agent.check()
    assert report.states == {"answered": len(STEPS)}


async def left(agent: KilledAgent, message: FakeMessage) -> list[str]:
    """Return what the agent still has of a message, undo copies too."""
    found = await agent.fetch(MEMORIES)
    copies = await agent.fetch("SELECT memory ->> 'source_message_id' AS message FROM forgotten_memories")
    return [row["message"] for row in (*found, *copies) if row["message"] == message.message_id]


@pytest.mark.timeout(180)
async def test_killed_at_every_step_of_a_deletion(database_url: str, tmp_path: Path) -> None:
    async with killed_agent(database_url, tmp_path) as agent:
        for step in DELETION_STEPS:
            await agent.process.start()
            message = await agent.say()
            await agent.settled()
            assert await left(agent, message), step
            agent.step_file.write_text(step)
            deleting = asyncio.create_task(agent.platform.delete(message))
            assert await agent.process.ended() == -9, step
            assert not agent.step_file.exists(), step
            await agent.process.start()
            await asyncio.wait({deleting})
            await agent.settled()
            assert await left(agent, message) == [], step
            await agent.process.kill()


@pytest.mark.timeout(180)
@pytest.mark.parametrize("step", ["request:before:1", "tool:before:1", "checkpoint:after:1", "request:before:2"])
async def test_what_an_interrupted_turn_knew_of_a_message_that_is_deleted_goes(
    database_url: str, tmp_path: Path, step: str
) -> None:
    async with killed_agent(database_url, tmp_path) as agent:
        await agent.process.start()
        agent.step_file.write_text(step)
        message = await agent.say(wait=False)
        assert await agent.process.ended() == -9
        deleting = asyncio.create_task(agent.platform.delete(message))
        await agent.process.start()
        await asyncio.wait({deleting})
        await agent.settled()
        assert await left(agent, message) == []
