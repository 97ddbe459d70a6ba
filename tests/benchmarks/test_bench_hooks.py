from __future__ import annotations

import pytest

from benchmarks import bench_hooks


async def test_the_benchmark_measures_each_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_hooks, "ROUNDS", 10)
    monkeypatch.setattr(bench_hooks, "CALLS_A_ROUND", 5)
    figures = await bench_hooks.run()
    for mode in ("direct", "collect", "collect_sync", "guard"):
        assert 0 < figures[mode]["median"] <= figures[mode]["p99"]
    assert figures["direct"]["median"] < figures["collect"]["median"]
