"""What an agent sends in Discord, end to end: personas, notices, restarts, channels beside each other."""

from __future__ import annotations

import asyncio
from typing import Any

import asyncpg
import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models.function import AgentInfo

from agent.testing.scripted_model import ScriptedCall, ScriptedModel
from bridges.discord.people import author_of
from tests.bridges.discord.sending import EXECUTE, MESSAGES, said
from tests.bridges.discord.worlds import DiscordWorld, discord_agent
from tests.servers.discord.faults import Fault
from tests.servers.discord.guilds import Guild
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.permissions import Permission
from tests.servers.discord.records import Channel

MEMORY: dict[str, Any] = {"plugins": {"memory": {}, "privacy": {}}}


async def states(database_url: str) -> list[tuple[str, str | None]]:
    """What became of each message that was to be sent."""
    conn = await asyncpg.connect(database_url)
    try:
        return [(row["state"], row["reason"]) for row in await conn.fetch("SELECT * FROM outbox ORDER BY outbox_id")]
    finally:
        await conn.close()


async def make_iris(world: DiscordWorld, guild: Guild, channel: Channel) -> None:
    server, place = await place_of(world, guild, channel)
    owner = author_of({"id": str(guild.owner.id), "username": guild.owner.name}, can_manage=True)
    options = {"name": "Iris", "prompt": "You are {bot}."}
    reply = await world.agent.run_command(("persona", "create"), options, server, place, owner)
    assert reply.ok, reply.text


async def place_of(world: DiscordWorld, guild: Guild, channel: Channel) -> Any:
    assert world.bridge._parts is not None
    place = await world.bridge._parts.guilds.place(channel.id, guild.id, None)
    assert place is not None
    return place


@pytest.mark.parametrize("persona", [False, True], ids=["itself", "persona"])
@pytest.mark.parametrize("minutes", [0, 5])
async def test_an_answer_whose_outcome_was_unknown_when_it_died_stands_once(
    discord: LoopbackDiscord, database_url: str, monkeypatch: pytest.MonkeyPatch, persona: bool, minutes: int
) -> None:
    """Under a nonce it is sent again; where Discord has forgotten that, or there was none, it is found."""
    guild = discord.guild("Garden")
    mara, general = guild.member("mara"), guild.channel("general")
    path = EXECUTE if persona else MESSAGES
    async with discord_agent(discord, database_url) as world:
        await make_iris(world, guild, general)
        lost = discord.faults.lose(method="POST", path=path)
        for method in ("GET", "POST"):  # and then nothing is answered at all
            discord.faults.add(Fault(None, method, MESSAGES, wait=60.0, chance=lambda: lost.met > 0))
        discord.say(mara, general, f"{'Iris' if persona else discord.bot.mention}, hello")
        await discord.answer(general)
        monkeypatch.setattr("agent.testing.app.GRACE", 0.1)
    discord.faults.clear()
    if minutes:
        discord.core.world.nonces.clear()
        conn = await asyncpg.connect(database_url)
        await conn.execute("UPDATE outbox SET created_at = created_at - interval '5 minutes'")
        await conn.close()
    async with discord_agent(discord, database_url) as world:
        await world.agent.idle()
    [_, (name, text)] = said(discord, general)
    assert (name, text.splitlines()[-1]) == ("Iris" if persona else discord.bot.name, "Well.")
    assert [state for state, _ in await states(database_url)] == ["sent"]
    assert len(world.model.requests) == 0


async def test_a_persona_answers_under_its_own_name_and_is_answered(
    discord: LoopbackDiscord, database_url: str
) -> None:
    guild = discord.guild("Garden")
    mara, general = guild.member("mara"), guild.channel("general")
    thread = guild.thread(general, "plans", mara)
    async with discord_agent(discord, database_url) as world:
        await make_iris(world, guild, general)
        for channel in (general, thread):
            asked = discord.say(mara, channel, "Iris, hello")
            answer = await discord.answer(channel, after=asked)
            assert (answer.author.name, answer.content.splitlines()[-1]) == ("Iris", "Well.")
            assert answer.mentions == ()
            again = discord.say(mara, channel, "and you?", reply_to=answer)
            assert (await discord.answer(channel, after=again)).author.name == "Iris"
        await world.agent.idle()
        assert len(world.model.requests) == 4
        assert "discord.com/channels" not in "".join(world.model.requests[-1].texts)
    assert len(discord.core.world.webhooks) == 1


async def test_an_edited_question_gives_a_personas_answer_another_text(
    discord: LoopbackDiscord, database_url: str
) -> None:
    guild = discord.guild("Garden")
    mara, general = guild.member("mara"), guild.channel("general")
    model = ScriptedModel("First.", "Second.")
    async with discord_agent(discord, database_url, model=model) as world:
        await make_iris(world, guild, general)
        asked = discord.say(mara, general, "Iris, one?")
        answer = await discord.answer(general, after=asked)
        await world.agent.idle()
        discord.edit(asked, "Iris, two?")
        await discord.until(lambda: discord.now(answer).content.endswith("Second."), what="correction")
        await world.agent.idle()
    assert discord.now(answer).content.endswith(f"/{asked.id}\nSecond.")
    assert len(discord.messages(general)) == 2


async def test_a_busy_and_a_shut_channel_hold_up_no_other(discord: LoopbackDiscord, database_url: str) -> None:
    garden, forge = discord.guild("Garden"), discord.guild("Forge")
    mara = garden.member("mara")
    forge.member(mara)
    busy, shut = garden.channel("busy"), garden.channel("shut")
    calm, other = garden.channel("calm"), forge.channel("other")
    model = ScriptedModel(default="long " * 1_000)
    async with discord_agent(discord, database_url, model=model) as world:
        discord.faults.limit("POST", MESSAGES, 1, 1.0)
        discord.overwrite(shut, discord.bot, deny=Permission.SEND_MESSAGES)
        asked = {channel.id: discord.say(mara, channel, f"{discord.bot.mention} hi") for channel in (busy, shut)}
        await discord.answer(busy, after=asked[busy.id])
        for channel in (calm, other):
            now = discord.say(mara, channel, f"{discord.bot.mention} hi")
            async with asyncio.timeout(1.5):
                await discord.answer(channel, after=now)
        assert len(discord.messages(busy)) < 4  # the question and three parts
        assert "I lack a permission" in (await discord.answer(discord.dm(mara))).content
        await world.agent.idle()
    assert len(discord.messages(busy)) == 4
    assert len(discord.messages(discord.dm(mara))) == 1
    assert discord.messages(shut) == [asked[shut.id]]
    assert [state for state, _ in await states(database_url)] == ["sent"] * 9


async def test_who_asked_is_told_that_an_answer_did_not_arrive(discord: LoopbackDiscord, database_url: str) -> None:
    guild = discord.guild("Garden")
    mara, general = guild.member("mara"), guild.channel("general")
    async with discord_agent(discord, database_url) as world:
        await make_iris(world, guild, general)
        discord.faults.fail(502, method="POST", path=EXECUTE)
        discord.say(mara, general, "Iris, hello")
        told = await discord.answer(discord.dm(mara))
        await world.agent.idle()
        assert told.content.startswith("I could not answer you in #general of Garden")
        asked = discord.say(mara, general, "Iris, hello?")
        await discord.answer(general, after=asked)
        await world.agent.idle()
    assert [state for state, _ in await states(database_url)] == ["unknown", "sent"]
    assert len(discord.messages(discord.dm(mara))) == 1


async def test_where_it_may_not_write_no_model_is_asked_and_who_asked_is_told_once(
    discord: LoopbackDiscord, database_url: str
) -> None:
    guild = discord.guild("Garden")
    mara, general = guild.member("mara"), guild.channel("general")
    mute = guild.channel("news", rules={discord.bot: (Permission(0), Permission.SEND_MESSAGES)})
    async with discord_agent(discord, database_url) as world:
        await make_iris(world, guild, general)
        for _ in range(3):
            discord.say(mara, mute, f"{discord.bot.mention} hello")
        told = await discord.answer(discord.dm(mara))
        assert told.content.startswith("I could not answer you in #news of Garden: I lack a permission there.")
        asked = discord.say(mara, general, f"{discord.bot.mention} hello")
        await discord.answer(general, after=asked)
        await world.agent.idle()
        assert len(world.model.requests) == 1
        asked = discord.say(mara, mute, "Iris, hello")  # through a webhook she may
        await discord.answer(mute, after=asked)
        await world.agent.idle()
    assert len(discord.messages(discord.dm(mara))) == 1
    assert not [one for one in discord.calls("POST", MESSAGES) if one.status == 403]


class SlowModel(ScriptedModel):
    """Thinks for a while."""

    async def _respond(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        await asyncio.sleep(1.5)
        return await super()._respond(messages, info)


async def test_it_types_for_as_long_as_it_thinks_and_no_longer(
    discord: LoopbackDiscord, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.turn.flow.TYPING_AFTER", 0.01)
    monkeypatch.setattr("agent.turn.flow.TYPING_EVERY", 0.05)
    guild = discord.guild("Garden")
    mara, general = guild.member("mara"), guild.channel("general")
    typing = "/channels/{channel_id}/typing"
    async with discord_agent(discord, database_url, model=SlowModel(default="Well.")) as world:
        discord.faults.refuse(50013, method="POST", path=typing)  # and who may not be seen typing answers all the same
        asked = discord.say(mara, general, f"{discord.bot.mention} hello")
        await discord.answer(general, after=asked)
        await world.agent.idle()
        count = len(discord.calls("POST", typing))
        assert count > 2
        await asyncio.sleep(0.15)
        assert len(discord.calls("POST", typing)) == count


async def test_long_code_comes_as_a_file(discord: LoopbackDiscord, database_url: str) -> None:
    guild = discord.guild("Garden")
    mara, general = guild.member("mara"), guild.channel("general")
    code = "print('@everyone')\n" * 150
    model = ScriptedModel(default=f"Here:\n```python\n{code}```\nDone.")
    async with discord_agent(discord, database_url, model=model):
        discord.say(mara, general, f"{discord.bot.mention} write it")
        await discord.answer(general, matching=lambda one: one.content == "Done.")
    first = discord.messages(general)[1]
    assert first.content == "Here:"
    [file] = first.attachments
    assert (file.filename, discord.core.world.files[file.path][0].decode()) == ("answer.py", code)


async def test_without_the_permission_to_attach_files_long_code_comes_in_parts(
    discord: LoopbackDiscord, database_url: str
) -> None:
    guild = discord.guild("Garden")
    mara = guild.member("mara")
    general = guild.channel("general", rules={discord.bot: (Permission(0), Permission.ATTACH_FILES)})
    code = "print('tea')\n" * 200
    model = ScriptedModel(default=f"Here:\n```python\n{code}```\nDone.")
    async with discord_agent(discord, database_url, model=model):
        asked = discord.say(mara, general, f"{discord.bot.mention} write it")
        await discord.answer(general, after=asked, matching=lambda one: one.content.endswith("Done."))
    parts = [one for one in discord.messages(general) if discord.is_own(one)]
    assert sum(one.content.count("print('tea')") for one in parts) == 200
    assert all(not one.attachments and one.content.count("```") % 2 == 0 for one in parts)


async def test_a_notice_is_an_embed_whose_buttons_work_after_a_restart(
    discord: LoopbackDiscord, database_url: str
) -> None:
    guild = discord.guild("Garden")
    mara, general = guild.member("mara"), guild.channel("general")
    learned = {"memory_content": "{user} likes *green* tea", "memory_scope": "server_wide"}
    model = ScriptedModel(ScriptedCall("create_long_term_memory", learned), default="Well.")
    async with discord_agent(discord, database_url, MEMORY, model=model):
        asked = discord.say(mara, general, f"{discord.bot.mention} I like green tea")
        notice = await discord.answer(general, after=asked, matching=lambda one: "saved" in str(one.embeds))
    assert "\\*green\\* tea" in notice.embeds[0]["description"]
    buttons = {each["label"]: each["custom_id"] for each in notice.components[0]["components"]}
    async with discord_agent(discord, database_url, MEMORY) as world:
        shown = await discord.press(guild.owner, notice, buttons["Undo"])
        await world.agent.idle()
        # Everybody sees that it was undone, and nobody can press it again.
        await discord.until(lambda: not discord.core.world.message(general.id, notice.id).components)
        now = discord.core.world.message(general.id, notice.id)
        assert now.embeds[0]["title"] == "Memory saved (undone)"
        assert now.embeds[0]["description"] == notice.embeds[0]["description"]
    assert shown.text
    assert (await states(database_url))[0] == ("sent", None)
