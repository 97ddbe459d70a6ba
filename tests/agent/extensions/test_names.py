from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.extensions.names import NEARLY_EQUAL, did_you_mean, name_problem, nearest

KNOWN = ("context_items", "recall", "Weather")


@given(st.from_regex(r"[a-z][a-z0-9_]{0,39}", fullmatch=True).filter(lambda name: name not in {"agent", "core"}))
def test_a_right_name_has_no_problem(name: str) -> None:
    assert name_problem(name) is None


@pytest.mark.parametrize("name", ["", "A", "1a", "a-b", "a.b", "a b", "é", "a\n", "a" * 41, "core", "agent", None, 3])
def test_a_wrong_name_has_one(name: object) -> None:
    assert name_problem(name)


@pytest.mark.parametrize(
    ("name", "found"), [("recal", "recall"), ("RECALL", "recall"), ("wether", "Weather"), ("zzz", None), ("", None)]
)
def test_the_nearest_name(name: str, found: str | None) -> None:
    assert nearest(name, KNOWN) == found
    assert did_you_mean(name, KNOWN) == (f" (did you mean {found}?)" if found else "")


def test_how_alike_names_must_be_is_chosen() -> None:
    assert nearest("rec", KNOWN) == "recall"
    assert nearest("rec", KNOWN, NEARLY_EQUAL) is None
