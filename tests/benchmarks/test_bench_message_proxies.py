from collections.abc import Iterator

import pytest
from nextcord.asset import Asset
from nextcord.http import Route

from agent.testing.database import DatabaseCluster
from benchmarks.bench_message_proxies import unreposted


@pytest.fixture(autouse=True)
def _own_bases() -> Iterator[None]:
    """Give nextcord its addresses back."""
    before = Route.BASE, Asset.BASE
    yield
    Route.BASE, Asset.BASE = before


@pytest.mark.unwatched_loop  # it makes databases
async def test_waiting_in_vain_is_measured_against_those_who_use_no_service(postgres_cluster: DatabaseCluster) -> None:
    figures = await unreposted(postgres_cluster, rounds=1, wait=0.4, channels=3)
    assert (figures["messages"], figures["answered"], figures["requests"]) == (3, 3, 0)
    assert 0 < figures["delay_less_wait"]["p50"] <= figures["delay_less_wait"]["p95"]  # nobody is answered before
    assert figures["delay_without_a_service"]["p50"] > 0
    less = figures["delay_less_wait"]["p50"] - figures["delay_without_a_service"]["p50"]
    assert figures["added"]["p50"] == pytest.approx(less, abs=0.01)
