"""The plugin quiet_hours in a whole agent."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agent.clock import ShiftedClock
from agent.testing.app import running_agent
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from agent.testing.scripted_model import ScriptedCall, ScriptedModel

PLUGINS = {"plugins": {"quiet_hours": {"module": "docs.examples.quiet_hours", "begins": 23}}}
EVENING = datetime(2026, 3, 1, 22, 0, tzinfo=UTC)
NIGHT = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)


@pytest.fixture
def platform() -> FakePlatform:
    return FakePlatform()


async def test_at_night_it_answers_in_direct_messages_only(database_url: str, platform: FakePlatform) -> None:
    model, bridge = ScriptedModel(default="Yes?"), FakeBridge(platform=platform)
    async with running_agent(database_url, PLUGINS, bridge=bridge, model=model, clock=ShiftedClock(NIGHT)) as agent:
        loud = await platform.say("ana", "are you awake?")
        answer = await platform.ask("ana", "are you awake?", channel="@ana")
        await agent.idle()
    assert answer.text == "Yes?"
    assert platform.answers_to(loud) == ()


async def test_the_model_can_look_up_when_it_sleeps(database_url: str, platform: FakePlatform) -> None:
    model = ScriptedModel(ScriptedCall("check_quiet_hours", {"hours_from_now": 2}), "No, I shall be asleep.")
    bridge = FakeBridge(platform=platform)
    async with running_agent(database_url, PLUGINS, bridge=bridge, model=model, clock=ShiftedClock(EVENING)):
        answer = await platform.ask("ana", "will you be there at midnight?")
    assert answer.text == "No, I shall be asleep."
    assert '"status": "asleep"' in model.requests[1].texts[-1]


async def test_people_can_ask_too(database_url: str, platform: FakePlatform) -> None:
    async with running_agent(database_url, PLUGINS, bridge=FakeBridge(platform=platform), clock=ShiftedClock(NIGHT)):
        reply = await platform.run_command("ana", "quiet", "hours")
    assert reply.text == "I sleep from 23:00 to 07:00 (UTC). Now I am asleep."
