"""A minute of load, and two of chaos."""

from __future__ import annotations

import pytest

from agent.testing.app import running_agent
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from tests.e2e.stress import echo_model, load, storm
from tests.soak.record import keep

pytestmark = pytest.mark.unwatched_loop


async def test_a_minute_of_load(database_url: str) -> None:
    platform = FakePlatform()
    async with running_agent(database_url, bridge=FakeBridge(platform=platform), model=echo_model()) as agent:
        keep("load", await load(agent, platform, seconds=60))


@pytest.mark.parametrize("remember", [False, True], ids=["talk", "remember"])
async def test_two_minutes_of_chaos(remember: bool) -> None:
    name = "chaos-remember" if remember else "chaos"
    keep(name, await storm(seconds=120, every=5, remember=remember))
