from __future__ import annotations

import pytest

from agent.identity.results import NotFound, Self, Step
from benchmarks import bench_resolver
from benchmarks.bench_resolver import baseline, is_rightly_ambiguous, verdict
from benchmarks.people_data import Kind, Query, town


def test_the_benchmark_counts_each_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_resolver, "TOWNS", 2)
    monkeypatch.setattr(bench_resolver, "SIZE", 200)
    monkeypatch.setattr(bench_resolver, "ROUNDS", 60)
    figures = bench_resolver.run()
    assert figures["queries"] == {"exact": 60, "nickname": 60, "misspelled": 120, "absent": 120}
    assert figures["met"]
    assert figures["resolver"]["wrong"] == 0
    assert figures["ratio_90"]["wrong"] > 0
    assert figures["exact_found"] >= 0.99


def test_a_town_is_the_same_each_time_and_has_twins() -> None:
    where = town(1, 100, 20)
    assert where == town(1, 100, 20)
    assert len(where.entries) == 100
    assert len(where.rivals) == 10
    hidden = {entry.account.account_id for entry in where.entries if entry.account.privacy.restricts}
    assert hidden
    assert not [each for each in where.queries if each.kind is Kind.MISSPELLED and each.meant in hidden]


def test_verdicts() -> None:
    where = town(1, 100, 20)
    alone = next(entry for entry in where.entries if entry.account.account_id not in where.rivals)
    query = Query(Kind.EXACT, alone.account.username or "", alone.account.account_id)
    assert not is_rightly_ambiguous(query, where)
    assert verdict(query, Self(Step.BOT), where) == "wrong"
    assert verdict(query, NotFound(query.name), where) == "not_found"
    twin = next(entry for entry in where.entries if entry.account.account_id in where.rivals)
    assert is_rightly_ambiguous(Query(Kind.EXACT, twin.account.display_name, twin.account.account_id), where)
    names = [("daniel", 1)]
    assert baseline(Query(Kind.ABSENT, "Daniela", None), names) == "wrong"
    assert baseline(Query(Kind.MISSPELLED, "Daneil", 1), names) == "not_found"
    assert baseline(Query(Kind.EXACT, "Daniel", 1), names) == "right"
