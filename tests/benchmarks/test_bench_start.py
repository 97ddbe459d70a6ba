from __future__ import annotations

from benchmarks import bench_start


def test_the_benchmark_waits_for_the_first_answer() -> None:
    figures = bench_start.run(rounds=1)
    assert 0.05 < figures["first_answer"]["warm"]["median"] < figures["first_answer"]["new_directory"]
    assert figures["bare"]["median"] < figures["first_answer"]["warm"]["median"]
