from __future__ import annotations

import pytest

from agent.testing.database import DatabaseCluster
from benchmarks.bench_resident import Scale, run


@pytest.mark.unwatched_loop  # it makes databases
async def test_the_benchmark_measures_the_agent_and_the_floor(postgres_cluster: DatabaseCluster) -> None:
    figures = await run(postgres_cluster, Scale(plain=4, saving=4))
    for name in ("without_embeddings", "with_local_embeddings"):
        assert 30 < figures[name]["idle"] <= figures[name]["at_the_end"] < 1000
    assert 10 < figures["bare"] < figures["with_local_embeddings"]["at_the_end"]
