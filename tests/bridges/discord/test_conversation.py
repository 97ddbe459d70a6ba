"""Conversations in guilds and direct messages, through the real client."""

from tests.bridges.discord.worlds import discord_agent
from tests.servers.discord.loopback import LoopbackDiscord


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
