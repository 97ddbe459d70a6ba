"""Fifty kills in mid-turn (What must be shown 3), on a database that survives and on one that dies with the agent."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from agent.testing.database import temporary_data_directory
from tests.e2e.killed_agent import kill_at_random, killed_agent
from tests.soak.record import keep

INTERRUPTIONS = 50
MUST_BE_ANSWERED = 45


@pytest.mark.parametrize("embedded", [False, True], ids=["external", "embedded"])
@pytest.mark.parametrize("has_keys", [True, False], ids=["keys", "no-keys"])
@pytest.mark.unwatched_loop
async def test_fifty_kills(database_url: str, embedded: bool, has_keys: bool) -> None:
    url = None if embedded else database_url
    with temporary_data_directory() as directory:
        async with killed_agent(url, directory, pace=0.004, has_keys=has_keys) as agent:
            kills = await kill_at_random(agent, INTERRUPTIONS, seed=7 + embedded + 2 * has_keys)
            report = await agent.check()
            answered = [message for message in kills.interrupted if agent.platform.answers_to(message)]
    name = f"kill-{'embedded' if embedded else 'external'}-{'keys' if has_keys else 'no-keys'}"
    delays = [round(delay * 1000, 1) for delay in kills.delays]
    figures = {"interrupted": len(kills.interrupted), "answered": len(answered), "too_late": kills.too_late}
    keep(name, figures | asdict(report) | {"killed_after_ms": delays})
    assert len(answered) >= MUST_BE_ANSWERED
