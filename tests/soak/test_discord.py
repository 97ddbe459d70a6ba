"""A minute of load in Discord, and two of chaos."""

from __future__ import annotations

import pytest

from tests.bridges.discord.conftest import _own_bases
from tests.e2e.discord.stress import Crowd, Scale, answering, chaos, load
from tests.e2e.stress import echo_model
from tests.servers.discord.loopback import LoopbackDiscord
from tests.soak.record import keep

__all__ = ["_own_bases"]

pytestmark = pytest.mark.unwatched_loop


async def test_a_minute_of_load_in_discord(database_url: str) -> None:
    async with LoopbackDiscord(check_requests=False) as discord:
        crowd = Crowd(discord, Scale())
        async with answering(discord, database_url, echo_model()) as agent:
            keep("discord-load", await load(crowd, agent))


async def test_two_minutes_of_chaos_in_discord() -> None:
    scale = Scale(guilds=5, channels=4, people=3, seconds=120, pause=0.2, patience=20)
    keep("discord-chaos", await chaos(scale, every=5))
