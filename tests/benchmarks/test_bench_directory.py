from __future__ import annotations

import pytest

from benchmarks import bench_directory


@pytest.mark.unwatched_loop  # it measures, and compares everything with everything
@pytest.mark.timeout(120)
def test_the_benchmark_measures_each_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_directory, "MEMBERS", 60)
    monkeypatch.setattr(bench_directory, "SERVERS", 10)
    monkeypatch.setattr(bench_directory, "MEMBERS_EACH", 20)
    monkeypatch.setattr(bench_directory, "QUESTIONS", 30)
    figures = bench_directory.run()
    assert (figures["memory"]["servers"], figures["memory"]["names"]) == (10, 10 * 20 * 5)
    assert figures["in_memory"]["names"] == 60 * 5
    assert figures["in_memory"]["exact_us"].keys() == {"index", "dict"}
    assert figures["in_memory"]["suggestions_ms"].keys() == {"index", "rapidfuzz_over_all"}
    assert all(figures["with_database"].values())
    assert figures["goals"]["exact_us"] == 50.0


def test_its_names_are_the_same_in_every_run_and_unlike_each_other() -> None:
    import random

    pool = bench_directory.words()
    first, second = (list(bench_directory.people(50, random.Random(1), pool)) for _ in range(2))
    assert first == second
    assert len(pool) > 2000
    assert len({name for names in first for name in names}) > 200
