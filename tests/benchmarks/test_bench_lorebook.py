from __future__ import annotations

import pytest

from benchmarks import bench_lorebook

pytestmark = pytest.mark.unwatched_loop  # the plain way holds up the loop, which is what it shows


async def test_the_benchmark_measures_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_lorebook, "ENTRIES", 60)
    monkeypatch.setattr(bench_lorebook, "PATTERNS", 10)
    monkeypatch.setattr(bench_lorebook, "ROUNDS", 5)
    figures = await bench_lorebook.run()
    assert (figures["entries"], figures["patterns"]) == (61, 11)
    assert figures["scan"]["found"] > 0
    for way in ("scan", "plain"):
        assert 0 < figures[way]["p50"] <= figures[way]["max"]
