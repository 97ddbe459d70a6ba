"""`/persona …` in a running agent, with memories."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio

from agent.app import Agent
from agent.bridge import OutgoingMessage
from agent.commands import CommandReply
from agent.contracts.people import PrivacyLevel
from agent.testing.app import running_agent
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from agent.testing.fake_values import Slow
from agent.testing.scripted_model import ScriptedModel

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts

SETTINGS = {"plugins": {"memory": {"enabled": True}}, "agent": {"prompt": "You are {bot}."}}


@dataclass
class House:
    """A running agent; max may manage the server home."""

    agent: Agent
    platform: FakePlatform
    model: ScriptedModel

    async def run(self, *path: str, who: str = "max", **options: Any) -> CommandReply:
        return await self.platform.run_command(who, "persona", *path, **options)

    async def remember(self, content: str, persona: str | None = None, target: str | None = None) -> None:
        scope = "server_wide" if target is None else "target_user"
        arguments = json.dumps({"memory_content": content, "memory_scope": scope, "target_user": target})
        who = self.platform.person("ana")
        place = self.platform.place()
        result, _ = await self.agent.call_tool("create_long_term_memory", arguments, *place, who, persona=persona)
        assert result.status == "memory_saved_successfully"

    async def prompt(self, persona: str | None = None, text: str = "hello", server: str = "home") -> str:
        who, place = self.platform.person("ana"), self.platform.place(server=server)
        built = await self.agent.build_prompt(*place, who, text, persona=persona)
        return "\n".join(item.render() for item in built.items)

    async def said(self, text: str, **more: Any) -> str:
        """Say something and return the name under which it is answered."""
        self.model.say("Well.")
        answer = await self.platform.answer(await self.platform.say("ana", text, **more))
        await self.agent.idle()  # nobody replies to an answer before it is noted who gave it
        return answer.author.display_name


@pytest_asyncio.fixture
async def house(database_url: str) -> AsyncIterator[House]:
    platform, model = FakePlatform(), ScriptedModel()
    platform.person("max", can_manage=True)
    async with running_agent(database_url, SETTINGS, bridge=FakeBridge(platform=platform), model=model) as agent:
        yield House(agent, platform, model)


async def test_only_managers_may(house: House) -> None:
    for word in (
        "list",
        "show",
        "create",
        "edit",
        "rename",
        "default",
        "share-lineage",
        "avatar",
        "triggers",
        "affixes",
        "delete",
    ):
        reply = await house.run(word, who="ana", name="Otto", prompt="x", new_name="x")
        assert (reply.ok, reply.text) == (False, "Only those who manage this server may do that.")
    assert len((await house.run("list")).text.splitlines()) == 1


async def test_a_persona_is_made_shown_and_changed(house: House) -> None:
    assert (await house.run("create", name="Otto", prompt="You are {bot}, a captain.")).text == (
        "Otto is here, with memories of its own."
    )
    assert (await house.run("triggers", name="otto", triggers="captain, aye")).text == (
        "Otto is called by its name and by captain, aye."
    )
    assert (
        "https://example.org/o.png"
        in (await house.run("avatar", name="otto", address="https://example.org/o.png")).text
    )
    listed = (await house.run("list")).text
    assert listed == "Isthmus: default; lineage 1\nOtto: lineage 2; called by captain, aye"
    shown = await house.run("show", name="OTTO")
    assert shown.text.endswith("\nPicture: https://example.org/o.png\n\nYou are {bot}, a captain.")
    assert shown.data is not None
    assert (shown.data["name"], shown.data["persona_lineage_id"], shown.data["is_default"]) == ("Otto", 2, False)
    assert (await house.run("edit", name="otto", prompt="Be kind.")).text == "Otto has a new prompt."
    assert (await house.run("rename", name="otto", new_name="Ben")).text == "Otto is called Ben now."
    assert (await house.run("avatar", name="ben", address="none")).text == "Ben has no picture."
    assert (await house.run("triggers", name="ben")).text == "Ben is called by its name and by captain, aye."
    assert (await house.run("triggers", name="ben", triggers="none")).text == "Nothing but its name calls Ben."
    assert "Be kind." in await house.prompt("Ben")


async def test_what_a_persona_puts_around_names(house: House) -> None:
    await house.run("create", name="Otto", prompt="You are {bot}.")
    assert (await house.run("affixes", name="otto")).text == "Otto puts nothing around names."
    reply = await house.run("affixes", name="otto", affixes="master, -chan, Master")
    assert reply.text == "Otto puts around names: master, -chan"
    assert (reply.data or {})["affixes"] == ["master", "-chan"]
    assert "\nAround names: master, -chan\n" in (await house.run("show", name="otto")).text
    refused = await house.run("affixes", name="otto", affixes="-, master")
    assert (refused.ok, refused.text) == (False, "What stands before or behind names has between 1 and 32 characters.")
    assert (await house.run("affixes", name="otto")).text == "Otto puts around names: master, -chan"
    assert (await house.run("affixes", name="otto", affixes="none")).text == "Otto puts nothing around names."


async def test_what_cannot_be_is_said_and_changes_nothing(house: House) -> None:
    for path, options in (
        ("create", {"name": "isthmus"}),
        ("edit", {"name": "Nobody", "prompt": "x"}),
        ("delete", {"name": "Isthmus"}),
        ("share-lineage", {"name": "Isthmus", "with": "Nobody"}),
    ):
        reply = await house.run(path, **options)
        assert not reply.ok
        assert reply.private
    assert (await house.run("delete", name="Isthmus")).text == (
        "Isthmus is the default persona and cannot be deleted: make another one the default first."
    )
    assert (await house.run("list")).text == "Isthmus: default; lineage 1"


async def test_a_name_that_somebody_bears_is_taken_with_a_warning(house: House) -> None:
    house.model.say("Hello.")
    await house.platform.ask("ana", "hello")
    warned = (await house.run("create", name="Ana")).text
    assert "Somebody here bears that name too" in warned
    account = (await house.agent.core.people.find("fake", "ana"))[0]
    await house.agent.core.privacy.set_level(account.account_id, PrivacyLevel.FULL)
    assert (await house.run("rename", name="Ana", new_name="ANA")).text == "Ana is called ANA now."


async def test_two_of_one_lineage_share_memories_and_others_never_see_them(house: House) -> None:
    await house.run("create", name="Otto")
    await house.run("create", name="Mira")
    await house.remember("the harbour opens at six", "Otto")
    await house.remember("{user} likes tea", "Otto", "me")
    assert "the harbour" in await house.prompt("Otto")
    for other in ("Mira", "Isthmus", None):
        assert "harbour" not in await house.prompt(other)
        assert "likes tea" not in await house.prompt(other)
    told = (await house.run("share-lineage", **{"name": "Mira", "with": "otto"})).text
    assert told == "Mira shares the memories of Otto now."
    for one in ("Otto", "Mira"):
        assert f"## {one}'s Memories about home" in await house.prompt(one)
        assert "ana likes tea" in await house.prompt(one)
    assert (await house.run("list")).text.endswith(
        "Otto: lineage 2; shares memories with Mira\nMira: lineage 2; shares memories with Otto"
    )
    assert (await house.run("share-lineage", name="Mira")).text == (
        "Mira has memories of its own again. What it has learned until now stays with lineage 2 "
        "(server memories: 1, personal memories: 1)."
    )
    assert "harbour" not in await house.prompt("Mira")


async def test_what_a_deleted_persona_remembers_stays_and_can_be_had_back(house: House) -> None:
    await house.run("create", name="Otto")
    await house.remember("the harbour opens at six", "Otto")
    await house.remember("{user} likes tea", "Otto", "me")
    gone = await house.run("delete", name="Otto")
    assert gone.text == (
        "Otto is gone. What it remembers stays with lineage 2 (server memories: 1, personal memories: 1). To have it "
        "back, make a new persona and ask the operator to run: isthmus persona share-lineage NAME --lineage 2"
    )
    assert gone.data is not None
    assert gone.data["kept"] == {"server_memories": 1, "personal_memories": 1}
    await house.run("create", name="Otto")
    assert "harbour" not in await house.prompt("Otto")
    assert (await house.run("delete", name="Otto")).text == "Otto is gone. It had learned nothing here."


async def test_what_a_deleted_persona_shares_stays_with_the_others(house: House) -> None:
    for name in ("Otto", "Mira"):
        await house.run("create", name=name)
    await house.run("share-lineage", **{"name": "Mira", "with": "Otto"})
    await house.remember("the harbour opens at six", "Otto")
    assert (await house.run("delete", name="Otto")).text == (
        "Otto is gone. What it remembers stays with Mira (server memories: 1)."
    )
    assert "harbour" in await house.prompt("Mira")


async def test_a_persona_answers_when_it_is_called_and_as_itself(house: House) -> None:
    await house.run("create", name="Otto", prompt="You are {bot}, a captain.")
    await house.run("triggers", name="Otto", triggers="aye aye")
    assert await house.said("hello") == "Isthmus"
    assert await house.said("hello Otto!") == "Otto"
    assert await house.said("AYE  AYE", to_agent=False) == "Otto"
    assert "You are Otto, a captain." in "\n".join(house.model.requests[-1].texts)
    otto = house.platform.from_agent[-1]
    assert await house.said("and then?", reply_to=otto) == "Otto"
    assert await house.said("and then, Isthmus?", reply_to=house.platform.from_agent[0]) == "Isthmus"


async def test_another_default_persona_answers_under_its_own_name(house: House) -> None:
    await house.run("create", name="Otto")
    await house.remember("the harbour opens at six")
    told = (await house.run("default", name="Otto")).text
    assert told == (
        "Otto answers by default now. What Isthmus remembers stays with Isthmus; "
        "/persona share-lineage lets them share it."
    )
    assert await house.said("hello") == "Otto"
    assert "harbour" not in await house.prompt()
    assert "harbour" in await house.prompt("Isthmus")
    await house.run("share-lineage", **{"name": "Otto", "with": "Isthmus"})
    assert "harbour" in await house.prompt()


async def test_a_persona_that_is_changed_while_its_answer_waits_is_the_new_one(house: House) -> None:
    await house.run("create", name="Otto")
    await house.said("hello")
    house.platform.history_delay = 0.3
    house.model.say("Aye.")
    said = await house.platform.say("ana", "Otto?")
    await house.run("edit", name="Otto", prompt="Be brief.")
    await house.run("rename", name="Otto", new_name="Ben")
    assert (await house.platform.answer(said)).author.display_name == "Ben"
    assert house.model.requests[-1].texts[0].startswith("Be brief.")


async def test_who_is_deleted_while_an_answer_waits_leaves_it_to_the_default_persona(house: House) -> None:
    await house.run("create", name="Otto")
    await house.said("hello")
    house.platform.history_delay = 0.3
    house.model.say("Well.")
    said = await house.platform.say("ana", "Otto?")
    await house.run("delete", name="Otto")
    assert (await house.platform.answer(said)).author.display_name == "Isthmus"


async def test_an_answer_of_a_persona_that_is_deleted_while_it_is_sent_is_settled(house: House) -> None:
    await house.run("create", name="Otto")
    is_sending = asyncio.Event()

    def slowly(_message: OutgoingMessage, _attempt: int) -> Slow:
        is_sending.set()
        return Slow(0.3)

    house.platform.sends.fail_by(slowly)
    house.model.say("Aye.")
    said = await house.platform.say("ana", "Otto?")
    await is_sending.wait()
    assert (await house.run("delete", name="Otto")).ok
    assert (await house.platform.answer(said)).text == "Aye."
    await house.agent.idle()
    async with house.agent.core.store.connection() as conn:
        assert await conn.fetchval("SELECT count(*) FROM outbox WHERE state = 'sent'") == 1
        assert (
            await conn.fetchval("SELECT count(*) FROM messages WHERE persona_id IS NULL AND event_id IS NOT NULL") == 1
        )
