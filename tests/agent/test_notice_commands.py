"""`/notices …` in a running agent."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio

from agent.app import Agent
from agent.commands import CommandReply
from agent.contracts.cards import Card
from agent.testing.app import running_agent
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from agent.testing.scripted_model import ScriptedCall, ScriptedModel

SETTINGS: dict[str, Any] = {"plugins": {"memory": {}}}
TEXT = "The gate is green."


@dataclass
class House:
    """A running agent; max may manage."""

    agent: Agent
    platform: FakePlatform
    model: ScriptedModel

    async def run(self, word: str, who: str = "max", server: str = "home", **options: object) -> CommandReply:
        author = self.platform.person(who, display_name=who.title(), can_manage=who == "max")
        return await self.agent.run_command(("notices", word), options, *self.platform.place(server=server), author)

    def channel(self, name: str, server: str = "home") -> str:
        return self.platform.place(name, server=server)[1].external_id

    async def saved(self, **place: str) -> list[tuple[str, Card]]:
        """Let the agent save something; return the notices with the channels that they stand in."""
        before = len(self.platform.from_agent)
        save = {"memory_content": TEXT, "memory_scope": "server_wide"}
        self.model.say(ScriptedCall("create_long_term_memory", save), "Saved.")
        await self.platform.ask("max", f"remember: {TEXT}", **place)
        await self.agent.idle()
        posted = self.platform.from_agent[before:]
        return [(each.channel.external_id, each.card) for each in posted if each.card is not None]


@pytest_asyncio.fixture
async def house(database_url: str) -> AsyncIterator[House]:
    platform, model = FakePlatform(), ScriptedModel(default="Well.")
    platform.person("max", can_manage=True, display_name="Max")
    bridge = FakeBridge(platform=platform)
    async with running_agent(database_url, SETTINGS, bridge=bridge, model=model) as agent:
        for channel, server in (("general", "home"), ("log", "home"), ("log", "work")):
            await platform.ask("max", "hello", channel=channel, server=server)
        yield House(agent, platform, model)


async def test_notices_are_shown_in_full_until_a_server_chooses(house: House) -> None:
    shown = await house.run("show")
    assert (shown.text, shown.private) == ("Notices are shown in full.", True)
    [(channel, card)] = await house.saved()
    assert (channel, card.lines) == ("home/general", (TEXT,))


@pytest.mark.parametrize(
    ("level", "said"),
    [("minimal", "Of a notice the title alone is shown."), ("hidden", "Notices are not shown.")],
)
async def test_a_server_sees_less_and_its_log_everything(house: House, level: str, said: str) -> None:
    ready = await house.run("log", channel=house.channel("log"))
    assert ready.text.splitlines() == [
        "Notices are shown in full.",
        "Once they are not, #log gets the full ones.",
    ]
    chosen = await house.run("visibility", level=level)
    assert chosen.text.splitlines() == [said, "#log gets the full ones, but for what only some may know."]
    here = [] if level == "hidden" else [("home/general", ())]
    assert sorted((channel, card.lines) for channel, card in await house.saved()) == [*here, ("home/log", (TEXT,))]
    none = await house.run("log")
    assert none.data == {"visibility": level, "log": None}


async def test_what_only_some_may_know_is_not_logged(house: House) -> None:
    await house.run("log", channel=house.channel("log"))
    await house.run("visibility", level="hidden")
    house.platform.restrict("plans")
    assert await house.saved(channel="plans") == []


async def test_the_log_is_a_channel_of_the_server(house: House) -> None:
    for foreign in (house.channel("log", "work"), "nowhere"):
        refused = await house.run("log", channel=foreign)
        assert (refused.ok, refused.private) == (False, True)
    assert (await house.run("show")).data == {"visibility": "full", "log": None}


async def test_servers_choose_for_themselves_and_only_managers_do(house: House) -> None:
    await house.run("visibility", level="hidden")
    assert (await house.run("show", server="work")).text == "Notices are shown in full."
    for word in ("show", "visibility", "log"):
        assert not (await house.run(word, who="ana", level="full")).ok
    assert (await house.run("show")).text == "Notices are not shown."
