from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.extensions.order import start_order

NAMES = [f"p{number}" for number in range(7)]


@given(st.permutations(NAMES), st.dictionaries(st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), max_size=3)))
def test_requirements_come_first_and_only_circles_are_refused(names: list[str], needs: dict[str, list[str]]) -> None:
    requires = {name: needs.get(name, []) for name in names}
    order, complaints = start_order(requires)
    assert len(set(order)) == len(order)
    for place, name in enumerate(order):
        assert set(requires[name]) <= set(order[:place])
    left_out = set(names) - set(order)
    assert bool(complaints) == bool(left_out)
    assert all(left_out & set(requires[name]) for name in left_out)
    assert {complaint.name for complaint in complaints} <= left_out


@given(st.permutations(NAMES))
def test_the_files_order_is_kept_where_nothing_asks_for_another(names: list[str]) -> None:
    assert start_order({name: names[:place] for place, name in enumerate(names)}) == (names, [])
    assert start_order(dict.fromkeys(names, ())) == (names, [])


def test_what_requires_waits_for_what_is_required() -> None:
    assert start_order({"a": ["c"], "b": [], "c": []})[0] == ["b", "c", "a"]


def test_each_missing_requirement_and_each_circle_has_one_line() -> None:
    requires = {
        "a": ["b"],
        "b": ["c", "memroy"],
        "c": ["a"],
        "memory": ["memory", "gone"],
        "d": ["a"],
    }
    order, complaints = start_order(requires, {"gone": "could not be loaded"})
    assert order == []
    assert [str(complaint) for complaint in complaints] == [
        "b: requires 'memroy', which is not enabled: set enabled = true in [plugins.memroy] (did you mean memory?)",
        "memory: requires 'gone', which could not be loaded",
        "a: requires itself: a requires b requires c requires a",
        "memory: requires itself: memory requires memory",
    ]
