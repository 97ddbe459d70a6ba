"""Whatever order a message's events come in, and however often: one turn with the right text, or none."""

import asyncio
from itertools import permutations
from typing import Any

import pytest

from agent.testing.scripted_model import ScriptedModel, SeenRequest
from tests.bridges.discord.worlds import DiscordWorld, discord_agent
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.records import Message

STEPS = ("MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE")


class HeldModel(ScriptedModel):
    """Says which text it was asked about, and not before it is let go."""

    def __init__(self) -> None:
        super().__init__(default=said)
        self.go_on = asyncio.Event()

    async def _respond(self, messages: Any, info: Any) -> Any:
        await self.go_on.wait()
        return await super()._respond(messages, info)


def said(request: SeenRequest) -> str:
    prompt = "\n".join(request.texts)
    return "both" if "first" in prompt and "second" in prompt else "second" if "second" in prompt else "first"


async def taken(world: DiscordWorld, message: Message) -> None:
    """Return when the core has a message, and so all that came before it in its channel."""
    async with world.agent.core.store.connection() as conn:
        while not await conn.fetchval("SELECT count(*) FROM inbound_events WHERE event_id = $1", str(message.id)):  # noqa: ASYNC110 - a database tells nobody
            await asyncio.sleep(0.005)


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("deleted", [False, True], ids=["stays", "deleted"])
async def test_one_turn_with_the_right_text_or_none(
    discord: LoopbackDiscord, database_url: str, deleted: bool, times: int
) -> None:
    guild = discord.guild()
    mara = guild.member("mara")
    orders = [order * times for order in permutations(range(2 + deleted))]
    channels = [guild.channel(f"c{number}") for number in range(len(orders))]
    model = HeldModel()
    async with discord_agent(discord, database_url, model=model) as world:
        for order, channel in zip(orders, channels, strict=True):
            model.go_on.clear()
            model.requests.clear()
            with discord.hold(*STEPS) as held:
                asked = discord.say(mara, channel, f"{discord.bot.mention} first")
                discord.edit(asked, f"{discord.bot.mention} second")
                if deleted:
                    discord.delete(asked)
                held.release(order)
            end = discord.say(mara, channel, f"{discord.bot.mention} end")
            await taken(world, end)
            model.go_on.set()
            await world.agent.idle()
            answers = [each for each in discord.messages(channel) if discord.is_own(each)]
            assert [each.content for each in answers if each.reply_to == asked.id] == ([] if deleted else ["second"]), (
                order
            )
            assert len(answers) == 2 - deleted, order


async def test_what_is_told_again_after_a_resume_is_answered_once(discord: LoopbackDiscord, database_url: str) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    async with discord_agent(discord, database_url) as world:
        for number in range(3):
            asked = discord.say(mara, general, f"{discord.bot.mention} {number}")
            await discord.answer(general, after=asked)
        discord.gateway.replays = 20
        discord.gateway.drop()
        last = discord.say(mara, general, f"{discord.bot.mention} last")
        await discord.answer(general, after=last)
        await world.agent.idle()
        assert sum(discord.is_own(each) for each in discord.messages(general)) == 4
        assert len(world.model.requests) == 4
