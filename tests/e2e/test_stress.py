"""Load and chaos for some seconds; the soak (tests/soak/test_stress.py) takes longer."""

from __future__ import annotations

import pytest

from agent.testing.app import running_agent
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from tests.e2e.stress import echo_model, load, storm


@pytest.mark.unwatched_loop  # it is measured
async def test_many_conversations_at_once(database_url: str) -> None:
    platform = FakePlatform()
    async with running_agent(database_url, bridge=FakeBridge(platform=platform), model=echo_model()) as agent:
        figures = await load(agent, platform, seconds=3)
    assert figures["messages"] > 100


@pytest.mark.timeout(120)
@pytest.mark.unwatched_loop
async def test_a_failing_database_and_a_failing_platform() -> None:
    figures = await storm(seconds=5, every=1.5, remember=True)
    assert figures["server_kills"] >= 1
    assert figures["answered"] > 20
    assert figures["told"]["saved"] > 5
