from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.store.pool import ExternalServer, Store
from benchmarks import common


def test_percentiles_are_values_that_were_measured() -> None:
    seconds = [number / 1000 for number in range(1, 101)]
    assert common.percentiles(seconds[::-1]) == {"p50": 50.0, "p95": 95.0, "p99": 99.0, "max": 100.0}
    assert common.percentiles([0.25]) == {"p50": 250.0, "p95": 250.0, "p99": 250.0, "max": 250.0}


def test_the_disk_takes_some_time(tmp_path: Path) -> None:
    assert 0 < common.fsync_ms(tmp_path, rounds=5) < 1000
    assert list(tmp_path.iterdir()) == []


def test_memory_is_counted() -> None:
    assert 10 < common.resident_mb() < 4000


def test_the_cluster_of_benchmarks_is_durable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def setting(url: str, name: str) -> object:
        async with Store(ExternalServer(url)) as store, store.connection() as conn:
            return await conn.fetchval("SELECT current_setting($1)", name)

    monkeypatch.setattr(common, "PLACE", tmp_path / "build")
    with common.durable_cluster() as cluster, cluster.fresh() as url:
        for name in ("fsync", "synchronous_commit", "full_page_writes"):
            assert asyncio.run(setting(url, name)) == "on"
    assert list((tmp_path / "build").iterdir()) == []
