"""The example of docs/writing-a-plugin.md: loaded from its own section of plugins.toml, and run."""

from __future__ import annotations

import re
import shutil
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.app import Agent
from agent.clock import RandomIds, SystemClock
from agent.commands import Invocation
from agent.contracts.people import Account, Denial, Persona, PrivacyLevel, Refusal, Speaker
from agent.events import Author, MessageCreated
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.places import Channel, ChannelRef, Place, Server, ServerRef
from agent.plugin_host import PluginHost, State
from agent.plugin_loader import load_plugins, section_model
from agent.settings import SettingsError, load_settings
from agent.tool_registry import ToolRegistry
from agent.tool_runner import run_tool
from agent.tools import Effect, ToolContext
from agent.turn.values import Turn, Why
from docs.examples.quiet_hours.rules import QuietHours
from tests.default_plugins import DEFAULT_PLUGINS, without_defaults

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "writing-a-plugin.md").read_text("utf-8")
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
MIDNIGHT = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)

KEY = ParticipantKey(ParticipantKind.CONSOLE_USER, "ana")
SERVER, CHANNEL = ServerRef("console", "home", "Home"), ChannelRef("general", "general")
PLACE = Place(Server(1, SERVER), Channel(1, CHANNEL))
ACCOUNT = Account(1, 1, "console", KEY, "Ana", "ana", PrivacyLevel.NONE)
SPEAKER = Speaker(KEY, 1, "Ana")
PERSONA = Persona(1, 1, 1, "Isthmus", "", None, (), is_default=True)
EVENT = MessageCreated(
    "console", "e1", "m1", SERVER, CHANNEL, Author(KEY.kind, KEY.id, "Ana"), "good evening", MIDNIGHT
)
TURN = Turn("t1", EVENT, PLACE, ACCOUNT, SPEAKER, PERSONA, "Isthmus", MIDNIGHT, Why.MENTION, 1)


def section() -> str:
    found: list[str] = re.findall(r"^```toml\n(\[plugins\.quiet_hours\]\n.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (text,) = found
    return without_defaults(text)


@pytest.fixture
def load(tmp_path: Path) -> Callable[[str], PluginHost]:
    def load(text: str) -> PluginHost:
        (tmp_path / "plugins.toml").write_text(text)
        loaded = load_settings(None, {}, tmp_path, tmp_path, data_dir=tmp_path, section_model=section_model)
        return load_plugins(loaded)

    return load


@pytest.fixture
async def host(load: Callable[[str], PluginHost]) -> AsyncIterator[PluginHost]:
    host = load(section())
    core: Any = None  # the example asks nothing of it
    await host.start(core)
    yield host
    await host.stop()


@pytest.mark.parametrize("name", ["rules.py", "__init__.py"])
def test_the_page_shows_the_plugin_as_it_is(name: str) -> None:
    source = (DOCS / "examples" / "quiet_hours" / name).read_text("utf-8")
    assert f"`{name}`\n\n```python\n{source}```\n" in PAGE


async def test_it_answers_nobody_at_night_except_in_direct_messages(host: PluginHost) -> None:
    night = Denial(Refusal.OTHER, "These are quiet hours.")
    assert await host.guard("guard_turn", turn=TURN) == night
    assert await host.guard("guard_turn", turn=replace(TURN, why=Why.DIRECT)) is None
    assert await host.guard("guard_turn", turn=replace(TURN, now=NOON)) is None


async def test_the_model_is_told(host: PluginHost) -> None:
    ((item,),) = await host.collect("context_items", turn=TURN)
    assert "asleep from 23:00 to 07:00 (Europe/Berlin)" in item.render()


async def test_its_tool_runs_as_the_model_calls_it(host: PluginHost) -> None:
    tool = ToolRegistry(tool for given in await host.collect("register_tools") for tool in given).get(
        "check_quiet_hours"
    )
    assert tool is not None
    assert tool.owner == "quiet_hours"

    effect = cast("Effect", None)  # nothing is changed
    context = ToolContext("t1", PLACE, ACCOUNT, SPEAKER, PERSONA, (), NOON, "m1", NOON, effect)
    ids = RandomIds(SystemClock())
    soon = await run_tool(tool, '{"hours_from_now": 1}', context, ids=ids)
    assert soon.as_json() == {"status": "awake", "local_time": "2026-03-01T14:00+01:00"}
    late = await run_tool(tool, '{"hours_from_now": 12}', context, ids=ids)
    assert late.as_json() == {"status": "asleep", "local_time": "2026-03-02T01:00+01:00"}
    assert (await run_tool(tool, '{"hours_from_now": -1}', context, ids=ids)).status == "invalid_arguments"


async def test_its_command_answers(host: PluginHost) -> None:
    ((command,),) = await host.collect("register_commands")
    reply = await command.run(Invocation(command.path, {}, PLACE, ACCOUNT, PERSONA, can_manage=False, now=NOON))
    assert (reply.text, reply.private) == ("I sleep from 23:00 to 07:00 (Europe/Berlin). Now I am awake.", True)


def test_mistakes_in_its_section_are_reported(load: Callable[[str], PluginHost]) -> None:
    text = section().replace("begins = 23", "begin = 23").replace("Europe/Berlin", "Europe/Atlantis")
    with pytest.raises(SettingsError) as caught:
        load(text)
    assert str(caught.value).splitlines() == [
        "plugins.toml:3: plugins.quiet_hours.begin: no such key (did you mean begins?)",
        'plugins.toml:4: plugins.quiet_hours.timezone = "Europe/Atlantis": expected a time zone such as "Europe/Berlin"',  # noqa: E501
    ]


def test_it_works_from_the_folder_of_plugins_too(
    load: Callable[[str], PluginHost], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import plugins

    shutil.copytree(DOCS / "examples", tmp_path / "plugins")
    monkeypatch.setattr(plugins, "__path__", [*plugins.__path__, str(tmp_path / "plugins")])
    assert load(without_defaults("[plugins.quiet_hours]\n")).packages == {"quiet_hours": "plugins.quiet_hours"}


@given(st.integers(0, 23), st.integers(0, 23), st.integers(0, 23))
def test_quiet_hours_go_round_the_clock(begins: int, ends: int, hour: int) -> None:
    hours = QuietHours(begins, ends, ZoneInfo("UTC"))
    quiet = [(begins + passed) % 24 for passed in range((ends - begins) % 24)]
    assert hours.hold_at(NOON.replace(hour=hour) + timedelta(minutes=59)) == (hour in quiet)


@pytest.mark.unwatched_loop  # the agent imports its model's library when it starts
async def test_a_running_agent_uses_it(tmp_path: Path, database_url: str) -> None:
    (tmp_path / "plugins.toml").write_text(f'[database]\nurl = "{database_url}"\n{section()}')
    loaded = load_settings(None, {}, tmp_path, tmp_path, data_dir=tmp_path, section_model=section_model)
    agent = await Agent.start(loaded, bridges=())
    try:
        assert [status.state for status in agent.plugins.plugins] == [
            State.STARTED,
            *(State.DISABLED for _ in DEFAULT_PLUGINS),
        ]
        prompt = await agent.build_prompt(SERVER, CHANNEL, EVENT.author, "hello")
        assert any("You are asleep from 23:00" in item.render() for item in prompt.items)
        asked = '{"hours_from_now": 0}'
        result, cards = await agent.call_tool("check_quiet_hours", asked, SERVER, CHANNEL, EVENT.author)
        assert result.status in {"asleep", "awake"}
        assert cards == ()
        reply = await agent.run_command(("quiet", "hours"), {}, SERVER, CHANNEL, EVENT.author)
        assert reply.text.startswith("I sleep from 23:00 to 07:00 (Europe/Berlin).")
    finally:
        await agent.stop()
