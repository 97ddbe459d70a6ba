"""Load and chaos in Discord for some seconds; the soak (tests/soak/test_discord.py) takes longer."""

import pytest

from tests.e2e.discord.stress import Crowd, Scale, answering, chaos, load
from tests.e2e.stress import echo_model
from tests.servers.discord.loopback import LoopbackDiscord

pytestmark = [pytest.mark.unwatched_loop, pytest.mark.timeout(180)]  # it is measured


async def test_many_channels_at_once(discord: LoopbackDiscord, database_url: str) -> None:
    crowd = Crowd(discord, Scale(guilds=3, channels=3, people=2, seconds=3))
    async with answering(discord, database_url, echo_model()) as agent:
        figures = await load(crowd, agent)
    assert figures["messages"] > 50


async def test_a_failing_discord_and_a_database_that_restarts() -> None:
    figures = await chaos(Scale(guilds=2, channels=3, people=2, seconds=8, pause=0.2, patience=6), every=1.5)
    assert sum(figures["gateway_drops"].values()) >= 3
    assert figures["answered"] > 10
