from __future__ import annotations

import json

import pytest

from agent.testing.database import DatabaseCluster
from benchmarks.bench_turns import Scale, run


@pytest.mark.unwatched_loop  # it makes databases, and has a watch of its own
async def test_the_benchmark_measures_the_agent_and_the_floor(postgres_cluster: DatabaseCluster) -> None:
    figures = await run(postgres_cluster, Scale(alone=5, conversations=3, each=2, warm_up=2))
    json.dumps(figures)
    for part in (figures, figures["bare"]):
        assert 0 < part["overhead"]["p50"] <= part["overhead"]["p99"] <= part["overhead"]["max"]
        assert part["at_once"]["messages_per_second"] > 0
    assert figures["at_once"]["cpu_ms_per_message"] > 0
    assert figures["at_once"]["commits_per_message"] >= 3
    assert figures["longest_stall_ms"] > 0
    assert figures["resident_mb"]["idle"] > 0
