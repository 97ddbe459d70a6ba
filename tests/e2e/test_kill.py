"""What must be shown 3: an agent that is killed loses nothing, doubles nothing, and finishes what it had begun.

The soak (tests/soak/test_kill.py) kills it more often.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.faults import STEPS
from tests.e2e.killed_agent import kill_at_random, killed_agent

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
