"""Somebody whose level is full: nothing of theirs is read, and nothing that the agent says or shows names them."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio

from agent.app import Agent
from agent.testing.app import running_agent
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from agent.testing.scripted_model import ScriptedCall, ScriptedModel
from tests.plugins.privacy.conftest import SETTINGS

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts

ALL = {"plugins": {**SETTINGS["plugins"], "lorebook": {"enabled": True}, "documents": {"enabled": True}}}
NAME, USERNAME, WORDS = "Zephyrine", "zeph.the.wind", "zanzibarword"
HIDDEN = (NAME.casefold(), USERNAME, "zephyrin ", WORDS)
"""What must stand nowhere."""


@dataclass
class Room:
    platform: FakePlatform
    model: ScriptedModel
    agent: Agent

    async def asks(self, text: str, who: str = "ana") -> str:
        """Ask, and return what the model was shown, without the question itself."""
        self.model.say("hm")
        await self.platform.ask(who, text)
        return "\n".join(self.model.requests[-1].texts).replace(json.dumps(text, ensure_ascii=False), "")

    async def save(self, content: str, target: str | None = None, who: str = "ana") -> dict[str, object]:
        """Have something saved, and return the result of the tool."""
        scope = "server_wide" if target is None else "target_user"
        arguments = {"memory_content": content, "memory_scope": scope, "target_user": target}
        self.model.say(ScriptedCall("create_long_term_memory", arguments), "done")
        await self.platform.ask(who, "keep that")
        result: dict[str, object] = json.loads(self.model.requests[-1].texts[-1])
        return result

    async def update(self, memory_id: object, content: str) -> None:
        arguments = {"memory_id": memory_id, "memory_content": content, "target_user": None}
        self.model.say(ScriptedCall("update_long_term_memory", arguments), "done")
        await self.platform.ask("ana", "change that")


@pytest_asyncio.fixture
async def room(database_url: str) -> AsyncIterator[Room]:
    platform, model = FakePlatform(), ScriptedModel(default="hm")
    platform.person("zeph", display_name=NAME)
    platform.person("max", can_manage=True)
    async with running_agent(database_url, ALL, bridge=FakeBridge(platform=platform), model=model) as agent:
        for who in ("ana", "ben", "max"):
            await platform.say(who, "hello", to_agent=False)
        await platform.say("zeph", f"I live in {WORDS}", to_agent=False)
        yield Room(platform, model, agent)


def names_them(text: str) -> list[str]:
    return [word for word in HIDDEN if word in text.casefold()]


async def test_the_agent_sees_them_until_they_hide(room: Room) -> None:
    shown = await room.asks("who is here?")
    assert {NAME.casefold(), WORDS} <= set(names_them(shown))
    assert (await room.platform.run_command("zeph", "privacy", "set", level="full", channel="@zeph")).ok
    assert names_them(await room.asks("who is here?")) == []


async def hide(room: Room) -> None:
    assert (await room.platform.run_command("zeph", "privacy", "set", level="full", channel="@zeph")).ok
    await room.platform.say("zeph", f"and I dream of {WORDS}", to_agent=False)


async def test_no_prompt_of_others_shows_them(room: Room) -> None:
    await room.save(f"{NAME} brings the cake")
    await room.save(f"{{user}} works with {NAME}", "me")
    lore = {"book": "ship", "keys": "-", "content": f"{NAME} steers the ship"}
    assert (await room.platform.run_command("max", "lorebook", "add", **lore)).ok
    shown = await room.asks("hm?")
    assert all(f"{NAME} {deed}" in shown for deed in ("brings", "steers"))
    await hide(room)
    said = await room.platform.say("zeph", f"more of {WORDS}", to_agent=False)
    for text in ("who is here?", "what do you know of <@zeph>?", "and of @zeph?"):
        shown = await room.asks(text)
        assert names_them(shown) == [], shown
        assert '"handle": "@{zeph' not in shown
    room.model.say("hm")
    answered = await room.platform.say("ana", "what does that mean?", reply_to=said, mentions=["zeph"])
    await room.platform.answer(answered)
    assert names_them("\n".join(room.model.requests[-1].texts)) == []


@pytest.mark.parametrize("target", [NAME, NAME.upper(), "@" + NAME, "Zephyrina", "zephyrin", "<@zeph>", "@{zephyrine}"])
async def test_no_result_of_a_tool_names_them(room: Room, target: str) -> None:
    await hide(room)
    result = await room.save("{user} likes tea", target)
    assert str(result["status"]).startswith("memory_save_failed"), result
    result.pop("name", None)  # what was asked for, as the model wrote it
    assert names_them(json.dumps(result)) == []
    assert await rows(room, "SELECT content FROM personal_memories") == []


async def test_a_twin_is_ambiguous_and_they_are_no_candidate(room: Room) -> None:
    room.platform.person("twin", display_name=NAME)
    await room.platform.say("twin", "hello", to_agent=False)
    await hide(room)
    result = await room.save("{user} likes tea", NAME)
    assert result["status"] == "memory_save_failed_ambiguous_user"
    assert 'zeph"' not in json.dumps(result)
    assert [one["distinction"] for one in result["candidates"]] == ["username twin"]  # type: ignore[attr-defined]


async def test_no_card_names_them(room: Room) -> None:
    await hide(room)
    saved = await room.save(f"{NAME} brings the cake")
    assert saved["status"] == "memory_saved_successfully"
    plain = await room.save("there is tea")
    await room.update(plain["memory_id"], f"there is tea from {NAME}")
    await room.update(saved["memory_id"], "")
    cards = [message.card for message in await room.platform.notices(4) if message.card is not None]
    assert [card.title for card in cards] == ["Memory saved", "Memory saved", "Memory updated", "Memory deleted"]
    assert [names_them(repr(card)) for card in cards] == [[], [], [], []]
    assert cards[1].lines == ("there is tea",)


async def test_no_command_of_others_names_them(room: Room) -> None:
    kept = await room.save(f"{NAME} brings the cake")
    own = await room.save(f"{{user}} works with {NAME}", "me")
    by_them = await room.save("the club meets on friday", who="zeph")
    assert (await room.platform.run_command("max", "memories", "list")).data["found"] == 2  # type: ignore[index]
    await room.platform.run_command("zeph", "memories", "why", id=by_them["memory_id"])
    await hide(room)
    tried = 0
    for command in room.agent.commands:
        for options in (
            {},
            {"id": kept["memory_id"]},
            {"id": own["memory_id"]},
            {"id": by_them["memory_id"]},
            {"text": "cake"},
            {"text": "works"},
            {"text": "club"},
        ):
            if any(option.required and option.name not in options for option in command.options):
                continue
            known = {option.name for option in command.options}
            if not set(options) <= known or command.path[-1] in {"remove", "forget-me"}:
                continue
            if command.path == ("privacy", "export"):
                continue  # a person gets everything that is held about them
            for who in ("max", "ana"):
                reply = await room.platform.run_command(who, *command.path, **options)
                file = "" if reply.file is None else reply.file.content.decode()
                assert names_them(f"{reply.text} {reply.data} {file}") == [], (command.path, reply)
                tried += 1
    assert tried > 40


async def test_an_answer_cannot_mention_them(room: Room) -> None:
    await hide(room)
    room.model.say("hello @{zephyrine}, @{zeph} and <@zeph>, ask @{ana}")
    answer = await room.platform.ask("ana", "greet everybody")
    assert answer.allowed_mentions is not None
    assert [key.id for key in answer.allowed_mentions] == ["ana"]
    assert room.platform.pinged(answer) == {"ana"}


async def test_they_are_answered_and_see_themselves(room: Room) -> None:
    await hide(room)
    shown = await room.asks("do you know me?", who="zeph")
    assert WORDS in shown


async def rows(room: Room, query: str) -> list[object]:
    async with room.agent.core.store.connection() as conn:
        return list(await conn.fetch(query))


async def test_what_they_wait_for_is_not_told_to_others_either(room: Room) -> None:
    """A level that is set while a turn of somebody else runs holds for the next one at the latest."""
    await asyncio.gather(hide(room), room.asks("who is here?"))
    assert names_them(await room.asks("who is here now?")) == []


async def test_of_somebody_partial_there_is_a_name_and_a_mention_and_no_more(room: Room) -> None:
    await room.save("{user} likes marzipan", "me", who="zeph")
    await room.save("{user} plays chess", who="zeph")
    assert "marzipan" in await room.asks("what does Zephyrine like?")
    assert (await room.platform.run_command("zeph", "privacy", "set", level="partial", channel="@zeph")).ok
    shown = await room.asks("what does Zephyrine like?")
    assert '"handle": "@{zephyrine}"' in shown
    assert WORDS in shown  # what they say is read
    assert [word for word in ("marzipan", "chess") if word in shown] == []
    listed = await room.platform.run_command("max", "memories", "list")
    assert "chess" not in listed.text
    for content, target in (("{user} likes nougat", NAME), ("{user} likes nougat", "me")):
        result = await room.save(content, target, who="ana" if target == NAME else "zeph")
        assert result["status"] == "memory_save_failed_privacy_restricted"
    result = await room.save("{user} plays go", who="zeph")
    assert result["status"] == "memory_save_failed_privacy_restricted"
    room.model.say("hello @{zephyrine}")
    answer = await room.platform.ask("ana", "greet them")
    assert room.platform.pinged(answer) == {"zeph"}
