"""A room and a channel that talk while the homeserver and the agent are killed: each message once on the other side."""

from pathlib import Path

import pytest

from tests.e2e.relay_storm import Scale, Storm
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.synapse import SynapseMissing


@pytest.mark.timeout(300)
async def test_each_message_stands_once_on_the_other_side(database_url: str, tmp_path: Path) -> None:
    async with LoopbackDiscord() as discord:
        try:
            report = await Storm(discord, tmp_path, database_url, Scale()).run()
        except SynapseMissing as missing:
            pytest.skip(str(missing))
    assert (report.agent_kills, report.synapse_kills) == (2, 1)
    assert (report.missing, report.doubled, report.out_of_order) == ([], [], 0)
