from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.clock import ShiftedClock
from agent.settings import SettingsError
from agent.testing.app import running_agent, settings_for_test
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from agent.testing.scripted_model import ScriptedModel
from agent.trace import Trace, TraceKind


async def test_it_answers_with_the_scripted_model(database_url: str) -> None:
    platform, model, traces = FakePlatform(), ScriptedModel("Hello, Ana."), list[Trace]()
    clock = ShiftedClock(datetime(2031, 5, 6, tzinfo=UTC))
    bridge = FakeBridge(platform=platform)
    async with running_agent(database_url, bridge=bridge, model=model, clock=clock, watch=traces.append) as agent:
        answer = await platform.ask("ana", "hello")
        await agent.idle()
    assert answer.text == "Hello, Ana."
    assert len(model.requests) == 1
    assert [trace.kind for trace in traces] == [TraceKind.OUTCOME]
    assert traces[0].at.year == 2031


async def test_it_answers_with_the_model_of_the_settings(database_url: str) -> None:
    platform = FakePlatform()
    settings = {"agent": {"name": "Robin", "triggers": ["robot"]}}
    async with running_agent(database_url, settings, bridge=FakeBridge(platform=platform)):
        said = await platform.say("ana", "hello robot", to_agent=False)
        assert "ana" in (await platform.answer(said)).text


async def test_it_is_stopped_also_when_the_test_fails(database_url: str) -> None:
    platform = FakePlatform()
    with pytest.raises(ZeroDivisionError):
        async with running_agent(database_url, bridge=FakeBridge(platform=platform), model=ScriptedModel()):
            raise ZeroDivisionError
    await platform.say("ana", "anybody there?")
    assert len(platform.events.unacknowledged) == 1


def test_nothing_but_what_is_asked_for_is_on(tmp_path: Path) -> None:
    settings = settings_for_test("postgresql://app@/x", {"agent": {"name": "Robin"}}, data_dir=tmp_path).settings
    assert (settings.agent.name, settings.agent.embeddings, settings.agent.model) == ("Robin", "off", "offline")
    assert (settings.plugins, settings.bridges) == ({}, {})


def test_mistakes_in_the_settings_are_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"agent\.nmae: no such key"):
        settings_for_test("postgresql://app@/x", {"agent": {"nmae": "Robin"}}, data_dir=tmp_path)
