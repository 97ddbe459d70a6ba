import pytest

from agent.testing.database import DatabaseCluster
from benchmarks.bench_discord import run
from tests.bridges.discord.conftest import _own_bases
from tests.e2e.discord.stress import Scale

__all__ = ["_own_bases"]


@pytest.mark.unwatched_loop  # it is measured
async def test_both_answer_everybody(postgres_cluster: DatabaseCluster) -> None:
    figures = await run(postgres_cluster, Scale(guilds=1, channels=2, people=1, seconds=0.5))
    assert figures.keys() == {"bare", "agent"}
    for each in figures.values():
        assert each["messages"] >= 2
        assert each["latency"]["p95"] > 0
