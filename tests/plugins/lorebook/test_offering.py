"""What a form holds at first is what its field takes back unchanged."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.lorebook.book import MAX_DEPTH, MAX_ORDER, Entry, Logic
from plugins.lorebook.editing import ENTRY_FIELDS
from plugins.lorebook.offering import typed

WORDS = st.lists(
    st.text("abcäß -", min_size=1, max_size=9).map(str.strip).filter(lambda one: one not in {"", "-"}), max_size=4
)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "keys": WORDS.map(lambda one: tuple(dict.fromkeys(" ".join(each.split()) for each in one))),
    "logic": st.sampled_from(Logic),
    "selective": st.booleans(),
    "whole-words": st.none() | st.booleans(),
    "depth": st.none() | st.integers(0, MAX_DEPTH),
    "order": st.integers(-MAX_ORDER, MAX_ORDER),
    "probability": st.integers(0, 100),
}


@given(data=st.data(), field=st.sampled_from(sorted(VALUES)))
def test_a_value_is_typed_as_it_is_read(data: st.DataObject, field: str) -> None:
    value = data.draw(VALUES[field])
    assert ENTRY_FIELDS[field][1](typed(value)) == value


@pytest.mark.parametrize("field", sorted(ENTRY_FIELDS))
def test_every_field_of_a_new_entry_can_be_typed(field: str) -> None:
    name, read = ENTRY_FIELDS[field]
    usual = getattr(Entry(content="The ship is red."), name)
    if usual != "":  # a form that is left empty cannot be sent
        assert read(typed(usual)) == usual
