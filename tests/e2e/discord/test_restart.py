"""An agent that dies in the middle of a turn in Discord: answered once, remembered once, nothing doubled."""

from pathlib import Path

import pytest

from tests.e2e.discord.process import DiscordProcess
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.records import Channel, Message

MESSAGES = "/channels/{channel_id}/messages"
STEPS = ("begin:after:1", "tool:after:1", "finish:after:1", "settle:before:1")


def tables(database_url: str, step: Path, log: Path) -> dict[str, object]:
    faults = {"module": "tests.e2e.faults", "step": str(step), "log": str(log), "pace": 0.0}
    return {
        "agent": {"embeddings": "off"},
        "database": {"url": database_url},
        "plugins": {"memory": {}, "faults": faults},
    }


def own(discord: LoopbackDiscord, channel: Channel) -> list[Message]:
    return [one for one in discord.messages(channel) if discord.is_own(one)]


@pytest.mark.timeout(180)
async def test_killed_at_steps_of_a_turn(discord: LoopbackDiscord, database_url: str, tmp_path: Path) -> None:
    guild = discord.guild("Garden")
    mara = guild.member("mara")
    step = tmp_path / "step"
    async with DiscordProcess(discord, tmp_path, tables(database_url, step, tmp_path / "tools.jsonl")) as agent:
        for number, where in enumerate(STEPS):
            channel = guild.channel(f"c{number}")
            await agent.start()
            step.write_text(where)
            asked = discord.say(mara, channel, f"{discord.bot.mention} remember that the word is w{number}")
            assert await agent.ended() == -9, where
            await agent.start()
            answer = await discord.answer(
                channel, after=asked, matching=lambda one: one.content.startswith("I will remember"), timeout=20
            )
            follow = discord.say(mara, channel, f"{discord.bot.mention} hello")
            await discord.answer(channel, after=follow, timeout=20)
            answers = [one for one in own(discord, channel) if asked.id < one.id < follow.id]
            assert [one.content for one in answers if one.content] == [answer.content], where
            assert len([one for one in answers if one.embeds]) == 1, where
            assert await agent.stop() == 0


@pytest.mark.timeout(120)
async def test_killed_while_discord_takes_the_answer(
    discord: LoopbackDiscord, database_url: str, tmp_path: Path
) -> None:
    guild = discord.guild("Garden")
    mara, general = guild.member("mara"), guild.channel("general")
    async with DiscordProcess(discord, tmp_path, tables(database_url, tmp_path / "no", tmp_path / "log")) as agent:
        await agent.start()
        slow = discord.faults.slow(1.0, method="POST", path=MESSAGES)
        asked = discord.say(mara, general, f"{discord.bot.mention} hello")
        await discord.called("POST", MESSAGES)
        await agent.kill()  # the answer is on its way, and is taken a second later
        assert slow.met == 1
        meanwhile = discord.say(mara, general, f"{discord.bot.mention} and now?")
        await agent.start()
        await discord.answer(general, matching=lambda one: one.reply_to == meanwhile.id, timeout=20)
        await agent.stop()
    replies = [one.reply_to for one in own(discord, general)]
    assert replies.count(asked.id) == 1
    assert replies.count(meanwhile.id) == 1
