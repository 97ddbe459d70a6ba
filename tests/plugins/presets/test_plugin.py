"""The plugin on a running agent, beside memories and lore."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, replace
from typing import Any

import pytest

from agent.app import Agent
from agent.commands import CommandReply
from agent.contracts.context import Prompt, Section, Tag
from agent.events import Author
from agent.identity.keys import ParticipantKind
from agent.places import ChannelRef, ServerRef
from plugins.presets import PresetsPlugin
from plugins.presets.library import PresetRefused
from plugins.presets.repository import PresetRepository
from tests.plugins.presets.files import MARKERS, as_json, default_preset, placed, st_marker, st_prompt

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts

HOME = ServerRef("console", "console:home", "home")
GENERAL = ChannelRef("console:general", "general")
ANA = Author(ParticipantKind.CONSOLE_USER, "console:ana", "Ana", can_manage=True)


@dataclass(frozen=True)
class GivenBytes:
    content: bytes
    name: str = "quiet.json"

    async def read(self, limit: int) -> bytes:
        return self.content


async def run(agent: Agent, command: str, who: Author = ANA, **options: Any) -> CommandReply:
    path = ("preset", command) if " " not in command else tuple(command.split())
    return await agent.run_command(path, options, HOME, GENERAL, who)


async def say(agent: Agent, command: str, **options: Any) -> str:
    reply = await run(agent, command, **options)
    assert reply.ok, reply.text
    return reply.text


async def take(agent: Agent, data: dict[str, Any], name: str = "quiet", **options: Any) -> str:
    return await say(agent, "import", file=GivenBytes(as_json(data)), name=name, **options)


async def prompt(agent: Agent, text: str = "the dragon?") -> Prompt:
    return await agent.build_prompt(HOME, GENERAL, ANA, text)


async def remember(agent: Agent) -> None:
    """Give the prompt a part of each kind."""
    for content, target in (("game night is Friday", None), ("{user} likes tea", "me")):
        scope = "server_wide" if target is None else "target_user"
        arguments = {"memory_content": content, "memory_scope": scope, "target_user": target}
        await agent.call_tool("create_long_term_memory", json.dumps(arguments), HOME, GENERAL, ANA)
    await say(agent, "lorebook add", book="lore", keys="-", content="The realm is Fen.")
    await say(agent, "lorebook add", book="lore", keys="dragon", content="It sleeps.")


def tags(prompt: Prompt) -> list[Tag]:
    return [item.tag for item in prompt.items]


async def test_a_preset_orders_every_prompt_until_it_is_off(agent: Agent) -> None:
    await remember(agent)
    before = await prompt(agent)
    assert (await take(agent, default_preset())).splitlines()[0] == (
        "Imported “quiet”. /preset use lets it order every prompt."
    )
    assert tags(await prompt(agent)) == tags(before)
    assert await say(agent, "use", name="QUIET") == "From now on “quiet” orders every prompt here."
    after = await prompt(agent)
    assert tags(after) == [
        Tag.PRESET,
        Tag.LOREBOOK,
        Tag.KNOWLEDGE_SERVER_MEMORIES,
        Tag.KNOWLEDGE_USER_MEMORIES,
        Tag.LOREBOOK,
        Tag.PARTICIPANTS,
        Tag.PERSONA,
        Tag.RULES,
        Tag.PLACE,
        Tag.NOW,
        Tag.PRESET,
        Tag.MESSAGE,
    ]
    assert after.items[0].render() == "Write Isthmus's next reply to Ana."
    assert after.items[-2].render() == "Stay in character."
    texts = [item.render() for item in after.items if item.tag is not Tag.PRESET]
    assert sorted(texts) == sorted(item.render() for item in before.items)
    assert await say(agent, "off") == "“quiet” is not in use any more."
    assert tags(await prompt(agent)) == tags(before)
    assert await say(agent, "off") == "No preset is in use."


async def test_texts_at_a_depth_stand_around_the_message(agent: Agent) -> None:
    prompts = [
        st_prompt("zero", "Be brief.", injection_position=1, injection_depth=0),
        st_prompt("three", "Mind the lore.", injection_position=1, injection_depth=3),
    ]
    order = placed("zero", "three", *MARKERS)
    await take(agent, {"prompts": prompts, "prompt_order": [{"character_id": 100001, "order": order}]})
    await say(agent, "use", name="quiet")
    last = (await prompt(agent)).items[-3:]
    assert [(item.tag, item.render()) for item in last if item.tag is Tag.PRESET] == [
        (Tag.PRESET, "Mind the lore."),
        (Tag.PRESET, "Be brief."),
    ]
    assert last[1].tag is Tag.MESSAGE
    assert all(item.section is Section.TAIL for item in last)


async def test_commands_and_what_they_refuse(agent: Agent) -> None:
    assert await say(agent, "list") == "There are no presets here."
    for name in ("one", "two", "three"):
        await take(agent, default_preset(), name)
    reply = await run(agent, "import", file=GivenBytes(as_json(default_preset())), name="four")
    assert (reply.ok, reply.text) == (False, "A server has at most 3 presets.")
    reply = await run(agent, "import", file=GivenBytes(as_json(default_preset())), name="ONE")
    assert "There is a preset “one” already" in reply.text
    await say(agent, "use", name="one")
    changed = default_preset(prompts=[st_prompt("main", "New."), st_marker("chatHistory")])
    text = await take(agent, changed, "one", replace=True)
    assert text.splitlines()[0] == "Replaced “one”, which is in use."
    assert await say(agent, "list") == "one: 1 prompt (in use)\nthree: 2 prompts\ntwo: 2 prompts"
    assert (await prompt(agent)).items[0].render() == "New."
    shown = (await say(agent, "show", name="two")).splitlines()
    assert shown[:2] == ["two: 2 prompts", "1. Main (system, 12 tokens)"]
    assert "10. Enhancedefinitions (system, 5 tokens, off)" in shown
    assert shown[-1] == "Kept, not applied: openai_max_tokens 300, seed -1, temperature 0.9, top_p 1"
    assert await say(agent, "remove", name="one") == "Removed the preset “one”."
    assert Tag.PRESET not in tags(await prompt(agent))
    for command in ("show", "use", "remove"):
        reply = await run(agent, command, name="one\0")
        assert (reply.ok, reply.text) == (False, "There is no preset “one” here.")


async def test_a_bad_file_is_said_and_nothing_is_taken(agent: Agent) -> None:
    reply = await run(agent, "import", file=GivenBytes(b"{}"))
    assert reply.text == "quiet.json: this is no preset for chat completion: it has no list of prompts"
    reply = await run(agent, "import", file=GivenBytes(as_json({"prompts": [st_prompt("a", role="x")]})))
    assert reply.text.splitlines() == [
        "Nothing was imported, because of what is wrong in the file:",
        "prompt 1 (A): role: system, user or assistant is expected",
    ]
    assert await say(agent, "list") == "There are no presets here."


async def test_members_only_see_which_one_is_in_use(agent: Agent) -> None:
    member = replace(ANA, can_manage=False)
    await take(agent, default_preset())
    assert (await run(agent, "list", member)).text == "quiet: 2 prompts"
    for command in ("show", "import", "use", "off", "remove"):
        assert not (await run(agent, command, member)).ok


async def test_presets_at_once(agent: Agent) -> None:
    plugin = agent.plugins.get("presets")
    assert isinstance(plugin, PresetsPlugin)
    await take(agent, default_preset(), "one")
    await take(agent, default_preset(), "two")
    entrance = await agent.core.people.enter(HOME, GENERAL, ANA, agent.core.clock.now())
    server_id = entrance.place.server.server_id
    await asyncio.gather(*(plugin.presets.use(server_id, name) for name in ("one", "two") * 10))
    assert sum(preset.in_use for preset in await plugin.presets.all(server_id)) == 1

    async def add(number: int) -> bool:
        content = as_json(default_preset())
        try:
            await plugin.presets.import_file(server_id, content, "x.json", name=f"p{number}")
        except PresetRefused:
            return False
        return True

    assert sum(await asyncio.gather(*(add(number) for number in range(5)))) == 1


async def test_what_is_kept_of_a_preset(agent: Agent) -> None:
    await take(agent, default_preset())
    plugin = agent.plugins.get("presets")
    assert isinstance(plugin, PresetsPlugin)
    entrance = await agent.core.people.enter(HOME, GENERAL, ANA, agent.core.clock.now())
    preset = await plugin.presets.get(entrance.place.server.server_id, "quiet")
    assert [prompt.identifier for prompt in preset.prompts if prompt.enabled][:2] == ["main", "worldInfoBefore"]
    async with agent.core.store.connection() as conn:
        row = await conn.fetchrow("SELECT * FROM presets")
    assert "hunter2" not in repr(dict(row or {}))
    lines = [line for part in await agent.plugins.collect("health") for line in part if line.name == "presets"]
    assert [(line.state, line.text) for line in lines] == [("ok", "1 presets, 0 in use")]


async def test_without_a_database_the_turn_goes_on(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    await take(agent, default_preset())
    await say(agent, "use", name="quiet")

    async def lost(self: PresetRepository, server_id: int) -> int:
        raise OSError("gone")

    monkeypatch.setattr(PresetRepository, "revision", lost)
    assert Tag.PRESET not in tags(await prompt(agent))
