"""Two hundred messages between a room and a channel, through eight kills of the agent and four of the homeserver."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.relay_storm import Scale, Storm
from tests.servers.discord.loopback import LoopbackDiscord
from tests.soak.record import keep

pytestmark = pytest.mark.unwatched_loop


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_two_hundred_messages(database_url: str, tmp_path: Path, seed: int) -> None:
    scale = Scale(messages=200, agent_kills=8, synapse_kills=4, pause=0.4, seed=seed)
    async with LoopbackDiscord() as discord:
        report = await Storm(discord, tmp_path, database_url, scale).run()
    keep(f"relay-{seed}", report.figures)
    assert (report.missing, report.doubled, report.out_of_order) == ([], [], 0)
