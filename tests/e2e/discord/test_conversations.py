"""What people live through in Discord: memories are saved, shown, mended, undone and exported, each in its place."""

import json
from collections.abc import Mapping
from typing import Any

from agent.testing.scripted_model import ScriptedCall
from tests.bridges.discord.worlds import DiscordWorld, discord_agent
from tests.servers.discord.guilds import Guild
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.permissions import EVERYONE, Permission
from tests.servers.discord.records import Channel, Message, User

SETTINGS: Mapping[str, Any] = {"plugins": {"memory": {}, "privacy": {}}}
VIEW, NOTHING = Permission.VIEW_CHANNEL, Permission(0)


async def ask(world: DiscordWorld, user: User, channel: Channel, text: str) -> Message:
    """Say something to the agent; return its answer, which is the last thing that it says."""
    discord = world.discord
    asked = discord.say(user, channel, f"{discord.bot.mention} {text}")
    answer = await discord.answer(channel, after=asked, matching=lambda one: bool(one.content))
    await world.agent.idle()
    return answer


async def save(world: DiscordWorld, user: User, channel: Channel, text: str, *, personal: bool = False) -> Message:
    """Let the agent remember something; return the notice."""
    arguments = {"memory_content": text, "memory_scope": "server_wide"}
    if personal:
        arguments |= {"memory_scope": "target_user", "target_user": "me"}
    world.model.say(ScriptedCall("create_long_term_memory", arguments), "Noted.")
    answer = await ask(world, user, channel, f"remember: {text}")
    assert answer.content == "Noted.", world.model.requests[-1].texts[-1]
    [notice] = [one for one in world.discord.messages(channel) if one.embeds and one.id < answer.id][-1:]
    return notice


async def prompt(world: DiscordWorld, user: User, channel: Channel) -> str:
    """What the model is told when somebody asks."""
    await ask(world, user, channel, "what do you know?")
    return "\n".join(world.model.requests[-1].texts)


def manager(guild: Guild, name: str) -> User:
    return guild.member(name, roles=[guild.role("Chief", EVERYONE | Permission.MANAGE_GUILD)])


async def test_a_memory_is_saved_listed_edited_undone_and_exported(discord: LoopbackDiscord, database_url: str) -> None:
    guild = discord.guild("Garden")
    mara, general = manager(guild, "mara"), guild.channel("general")
    async with discord_agent(discord, database_url, SETTINGS) as world:
        notice = await save(world, mara, general, "the gate is green")
        assert notice.embeds[0]["description"] == "the gate is green"
        listed = await discord.slash(mara, general, "memories list")
        assert (listed.ephemeral, listed.text) == (True, r"ID:1 the gate is green \[new\]")
        edited = await discord.slash(mara, general, "memories edit", {"id": 1, "text": "the gate is blue"})
        assert edited.text == "Memory 1 says now: the gate is blue"
        assert "the gate is blue" in await prompt(world, mara, general)
        removed = await discord.slash(mara, general, "memories remove", {"ids": "1"})
        assert "the gate is blue" not in await prompt(world, mara, general)
        [undo] = [one for row in removed.message.components for one in row["components"] if one["label"] == "Undo"]
        back = await discord.press(mara, removed.message, undo["custom_id"])
        assert "Memory 1 is back." in back.text
        exported = await discord.slash(mara, general, "memories export")
        [file] = exported.message.attachments
        content, _ = discord.core.world.files[file.path]
        [memory] = json.loads(content)["server_memories"]
        assert memory["content"] == "the gate is blue"
        # What an undo button saw must still be so: the memory was edited meanwhile.
        [stale] = [one for row in notice.components for one in row["components"] if one["label"] == "Undo"]
        refused = await discord.press(mara, discord.now(notice), stale["custom_id"])
        assert refused.ephemeral
        assert "the gate is blue" in (await discord.slash(mara, general, "memories list")).text


async def test_a_notices_button_undoes_what_was_saved_after_a_restart(
    discord: LoopbackDiscord, database_url: str
) -> None:
    guild = discord.guild("Garden")
    mara, general = manager(guild, "mara"), guild.channel("general")
    async with discord_agent(discord, database_url, SETTINGS) as world:
        notice = await save(world, mara, general, "the gate is green")
    [undo] = [one for row in notice.components for one in row["components"] if one["label"] == "Undo"]
    async with discord_agent(discord, database_url, SETTINGS) as world:
        await discord.press(mara, discord.now(notice), undo["custom_id"])
        assert "ID:1 the gate is green" not in await prompt(world, mara, general)
        assert "the gate" not in (await discord.slash(mara, general, "memories list")).text


async def test_two_guilds_never_see_each_others_memories(discord: LoopbackDiscord, database_url: str) -> None:
    mara = discord.user("mara")
    guilds = [discord.guild(name) for name in ("Garden", "Harbour")]
    channels = []
    for guild in guilds:
        guild.member(mara, roles=[guild.role("Chief", EVERYONE | Permission.MANAGE_GUILD)])
        channels.append(guild.channel("general"))
    async with discord_agent(discord, database_url, SETTINGS) as world:
        for channel, text in zip(channels, ("the gate is green", "the boat is red"), strict=True):
            await save(world, mara, channel, text)
        for channel, own, other in (
            (channels[0], "the gate is green", "the boat is red"),
            (channels[1], "the boat is red", "the gate is green"),
        ):
            shown = await prompt(world, mara, channel)
            listed = (await discord.slash(mara, channel, "memories list")).text
            for text in (shown, listed):
                assert own in text
                assert other not in text
        for channel, foreign in zip(channels, ("2", "1"), strict=True):
            removed = await discord.slash(mara, channel, "memories remove", {"ids": foreign})
            assert "removed:" not in removed.text
            exported = await discord.slash(mara, channel, "memories export")
            content, _ = discord.core.world.files[exported.message.attachments[0].path]
            assert len(json.loads(content)["server_memories"]) == 1
        direct = await prompt(world, mara, discord.dm(mara))
        assert "the gate" not in direct
        assert "the boat" not in direct


async def test_what_is_said_in_a_private_place_stays_there(discord: LoopbackDiscord, database_url: str) -> None:
    guild = discord.guild("Garden", permissions=Permission.ADMINISTRATOR)
    mara, ben = manager(guild, "mara"), guild.member("ben")
    general, ideas = guild.channel("general"), guild.forum("ideas")
    team = guild.channel("team", rules={guild.everyone: (NOTHING, VIEW), mara: (VIEW, NOTHING)})
    plans, secret = guild.thread(team, "plans", mara), guild.thread(general, "secret", mara, private=True)
    post, _ = guild.post(ideas, "More tea", ben, "Let us have more tea.")
    direct = discord.dm(mara)
    said = {
        team.id: "the team meets on Monday",
        plans.id: "the plan is to plant roses",
        secret.id: "the party is for ben",
        direct.id: "mara is moving away",
        post.id: "everybody wants tea",
    }
    async with discord_agent(discord, database_url, SETTINGS) as world:
        for channel in (team, plans, secret, direct, post):
            await save(world, mara, channel, said[channel.id])

        async def known(user: User, channel: Channel) -> set[str]:
            shown = await prompt(world, user, channel)
            blocks = shown[: shown.rindex("what do you know?")]
            return {text for text in said.values() if f" {text}" in blocks and f"remember: {text}" not in blocks} | {
                text for text in said.values() if f"ID:{list(said.values()).index(text) + 1} {text}" in blocks
            }

        public = {said[post.id]}
        assert await known(ben, general) == public
        assert await known(mara, general) == public
        assert await known(ben, post) == public
        assert await known(mara, team) == public | {said[team.id]}
        # What is saved in a channel holds in the threads below it, and never the other way round.
        assert await known(mara, plans) == public | {said[team.id], said[plans.id]}
        assert await known(mara, secret) == public | {said[secret.id]}
        assert await known(mara, direct) == {said[direct.id]}
        listed = (await discord.slash(mara, general, "memories list")).text
        assert [text for text in said.values() if text in listed] == [said[post.id]]


async def test_a_channel_that_is_closed_keeps_what_is_said_from_then_on(
    discord: LoopbackDiscord, database_url: str
) -> None:
    guild = discord.guild("Garden", permissions=Permission.ADMINISTRATOR)
    mara, general, other = manager(guild, "mara"), guild.channel("general"), guild.channel("other")
    async with discord_agent(discord, database_url, SETTINGS) as world:
        await save(world, mara, general, "the gate is green")
        discord.overwrite(general, guild.everyone, deny=VIEW)
        discord.overwrite(general, mara, allow=VIEW)
        await save(world, mara, general, "the key is under the stone")
        shown = await prompt(world, mara, other)
        assert "the gate is green" in shown
        assert "under the stone" not in shown
        assert "under the stone" in await prompt(world, mara, general)


async def test_a_personal_memory_follows_its_person_and_goes_with_its_message(
    discord: LoopbackDiscord, database_url: str
) -> None:
    guild, other = discord.guild("Garden"), discord.guild("Harbour")
    mara, ben = guild.member("mara"), guild.member("ben")
    other.member(mara)
    general, harbour = guild.channel("general"), other.channel("general")
    async with discord_agent(discord, database_url, SETTINGS) as world:
        await save(world, mara, general, "{user} keeps bees", personal=True)
        assert "keeps bees" in await prompt(world, mara, harbour)
        discord.say(mara, general, "I am here")
        listed = await discord.slash(mara, general, "personal memories list")
        assert "keeps bees" in listed.text
        assert "keeps bees" not in (await discord.slash(ben, general, "personal memories list")).text
        source = next(one for one in discord.messages(general) if "remember: " in one.content)
        discord.delete(source)
        await discord.until(lambda: "keeps bees" not in str([one.embeds for one in discord.messages(general)]))
        await world.agent.idle()
        assert "keeps bees" not in await prompt(world, mara, harbour)
