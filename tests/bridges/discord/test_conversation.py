"""Conversations in guilds and direct messages, through the real client."""

from dataclasses import replace

from agent.models.chat import ChatModel
from agent.testing.scripted_model import ScriptedModel
from tests.agent.turn.test_images import PNG, pictures_in
from tests.bridges.discord.worlds import discord_agent
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.records import Upload


class Seeing(ScriptedModel):
    """A model that takes pictures."""

    @property
    def chat(self) -> ChatModel:
        return replace(super().chat, takes_images=True)


async def test_a_mention_is_answered_once_and_others_are_not(discord: LoopbackDiscord, database_url: str) -> None:
    guild = discord.guild("Garden")
    mara, general = guild.member("mara", nick="Mara"), guild.channel("general")
    async with discord_agent(discord, database_url) as world:
        discord.say(mara, general, "nothing for you")
        asked = discord.say(mara, general, f"Hello {discord.bot.mention}")
        answer = await discord.answer(general, after=asked)
        await world.agent.idle()
        assert answer.content == "Well."
        assert len(world.model.requests) == 1
        prompt = "\n".join(world.model.requests[0].texts)
        assert '"server":"Garden"' in prompt.replace(": ", ":")
        assert "nothing for you" in prompt


async def test_who_has_had_enough_is_told_so_once_also_in_direct_messages(
    discord: LoopbackDiscord, database_url: str
) -> None:
    guild = discord.guild("Garden")
    mara, ben, general = guild.member("mara"), guild.member("ben"), guild.channel("general")
    alone = discord.dm(ben)
    settings = {"agent": {"limits": {"daily_answers": 2}}}
    async with discord_agent(discord, database_url, settings, model=ScriptedModel(default="Well.")) as world:
        for number in range(4):
            discord.say(mara, general, f"{discord.bot.mention} {number}")
            discord.say(ben, alone, f"{number}")
            await discord.until(lambda number=number: len(world.model.requests) >= 2 * min(number + 1, 2))  # type: ignore[misc]
            await world.agent.idle()
        discord.say(guild.owner, general, f"{discord.bot.mention} me too")
        await discord.until(lambda: len(world.model.requests) == 5)
        await world.agent.idle()
        told = [
            [one.embeds[0]["title"] for one in discord.messages(place) if discord.is_own(one) and one.embeds]
            for place in (general, alone)
        ]
    assert told == [["That is as much as I answer one person in a day. I am back tomorrow."]] * 2
    assert len(world.model.requests) == 5


async def test_pictures_of_what_is_answered_and_forwarded_are_shown(
    discord: LoopbackDiscord, database_url: str
) -> None:
    guild = discord.guild("Garden")
    mara, general = guild.member("mara"), guild.channel("general")
    picture = discord.say(mara, general, "look", attachments=[Upload("a.png", PNG, "image/png")])
    async with discord_agent(discord, database_url, model=Seeing(default="I see.")) as world:
        for number in range(45):  # it no longer stands in what is read of the channel
            discord.say(mara, general, f"line {number}")
        asked = discord.say(mara, general, f"{discord.bot.mention} what is that?", reply_to=picture)
        await discord.answer(general, after=asked)
        discord.say(mara, discord.dm(mara), forward=picture)
        await discord.answer(discord.dm(mara))
        await world.agent.idle()
    shown = [pictures_in(request.messages) for request in world.model.requests]
    assert shown == [[PNG], [PNG]]
