from __future__ import annotations

import json

import pytest

from agent.testing.database import DatabaseCluster
from benchmarks.bench_memory import Scale, run


@pytest.mark.unwatched_loop  # it makes databases, and has a watch of its own
async def test_the_benchmark_measures_saves_and_contexts_beside_their_floor(postgres_cluster: DatabaseCluster) -> None:
    scale = Scale(alone=10, writers=3, each=3, contexts=4, questions=4, memories=3, people=2)
    figures = await run(postgres_cluster, scale)
    json.dumps(figures)
    timed = [figures["one_writer"][name] for name in ("save", "bare")]
    timed += [figures["many_writers"][name] for name in ("save", "bare", "hot_owner", "beside_hot_owner")]
    timed += [figures["context"][name] for name in ("cached", "from_database")]
    timed.append(figures["recall"])
    for times in timed:
        assert 0 < times["p50"] <= times["p95"] <= times["p99"] <= times["max"]
    assert figures["one_writer"]["over_bare_p50"] > 0
    assert figures["many_writers"]["save"]["per_second"] > 0
    assert figures["context"]["entries"] == 9
    assert figures["longest_stall_ms"] > 0
