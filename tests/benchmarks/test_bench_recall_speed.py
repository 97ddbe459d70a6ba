from __future__ import annotations

import json

import pytest

from agent.models.chat import preload
from agent.models.embeddings import load_wordllama
from agent.testing.database import DatabaseCluster
from benchmarks.bench_recall_speed import Scale, run

preload()
load_wordllama()


@pytest.mark.unwatched_loop  # it makes databases, and has a watch of its own
async def test_the_benchmark_measures_recall_beside_a_bare_scan(postgres_cluster: DatabaseCluster) -> None:
    scale = Scale(documents=4, parts=5, memories=6, people=2, rounds=6)
    figures = await run(postgres_cluster, scale)
    json.dumps(figures)
    assert (figures["parts"], figures["memories"]) == (20, 18)
    assert figures["backfill"]["vectors"] == 20 + 18 + 10 + 3
    for name in ("recall", "recall_by_words_alone", "vectors_alone"):
        times = figures[name]
        assert 0 < times["p50"] <= times["p95"] <= times["p99"] <= times["max"]
    assert figures["over_vectors_alone_p50"] > 0
    assert figures["longest_stall_ms"] > 0
    assert figures["embedding_a_question"]["local"]["p50"] > 0
