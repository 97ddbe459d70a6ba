"""What the benchmarks share: figures, the machine that they were taken on, and a database that writes to the disk."""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from math import ceil
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from agent.store.embedded import EmbeddedServer
from agent.testing.database import DatabaseCluster

ROOT = Path(__file__).parents[1]
PLACE = ROOT / "build"
"""On the disk, unlike the temporary directories of tests."""
MEGABYTE = 1024 * 1024


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """Return p50, p95, p99 and the greatest value (nearest rank), in milliseconds."""
    ordered = sorted(seconds)
    ranks = {f"p{percent}": ordered[ceil(len(ordered) * percent / 100) - 1] for percent in (50, 95, 99)}
    return {name: round(value * 1000, 3) for name, value in {**ranks, "max": ordered[-1]}.items()}


def fsync_ms(directory: Path = PLACE, rounds: int = 200) -> float:
    """Return the median time in which the disk below `directory` keeps 8 kB, in milliseconds."""
    directory.mkdir(parents=True, exist_ok=True)
    times = []
    with tempfile.TemporaryFile(dir=directory) as file:
        for _ in range(rounds):
            file.write(b"x" * 8192)
            file.flush()
            began = time.perf_counter()
            os.fsync(file.fileno())
            times.append(time.perf_counter() - began)
    return round(median(times) * 1000, 3)


def machine() -> dict[str, Any]:
    """Return what the figures depend on."""
    return {
        "cores": os.cpu_count(),
        "load": [round(load, 2) for load in os.getloadavg()],
        "python": platform.python_version(),
        "fsync_ms": fsync_ms(),
    }


def resident_mb(process: int | None = None) -> float:
    """Return the resident memory of a process, of this one by default, in megabytes."""
    return round(psutil.Process(process).memory_info().rss / MEGABYTE, 1)


@contextlib.contextmanager
def durable_cluster() -> Iterator[DatabaseCluster]:
    """Run a server as deployments do: on the disk, with fsync on; its files are removed afterwards."""
    PLACE.mkdir(exist_ok=True)
    directory = Path(tempfile.mkdtemp(prefix="bench-", dir=PLACE))
    server = EmbeddedServer(directory)
    try:
        server.ensure_running()
        yield DatabaseCluster(server)
    finally:
        server.stop()
        shutil.rmtree(directory, ignore_errors=True)
