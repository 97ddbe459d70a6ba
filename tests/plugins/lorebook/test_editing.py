from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.lorebook.book import Book, Entry, Logic, Scope
from plugins.lorebook.editing import (
    BOOK_FIELDS,
    ENTRY_FIELDS,
    LoreRefused,
    changed_book,
    channels_of,
    entry_change,
    lineage_of,
    split_keys,
)
from plugins.lorebook.pattern import split_key


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("dragon", ("dragon",)),
        (" dragon , old wyrm,, dragon", ("dragon", "old wyrm")),
        ("/a{1,2}/i, b", ("/a{1,2}/i", "b")),
        (r"/a\/,b/, c", (r"/a\/,b/", "c")),
        ("a/b, c/d", ("a/b", "c/d")),
        ("/a, b", ("/a", "b")),
        ("-", ()),
        ("  ", ()),
    ],
)
def test_keys_stand_between_commas(text: str, keys: tuple[str, ...]) -> None:
    assert split_keys(text) == keys


words = st.text("abcdefghij -_'", min_size=1, max_size=8).map(str.strip).filter(lambda key: key not in {"", "-"})


@given(st.lists(words | st.sampled_from(["/a{1,3}/", "/x,y/i"]), min_size=1, unique=True, max_size=20))
def test_every_list_of_keys_is_read_again(keys: list[str]) -> None:
    assert split_keys(", ".join(keys)) == tuple(" ".join(k.split("\n")) for k in keys)


@given(st.text(max_size=60))
def test_no_list_of_keys_does_harm(text: str) -> None:
    try:
        assert all(key == key.strip() and key for key in split_keys(text))
    except LoreRefused as refused:
        assert str(refused)  # noqa: PT017 - what it says, when it is raised


@pytest.mark.parametrize("text", ["x" * 1_001, ",".join(f"k{n}" for n in range(101)), "/(/", "ok, /(a|a)*b/"])
def test_unusable_keys_are_refused(text: str) -> None:
    with pytest.raises(LoreRefused):
        split_keys(text)


@pytest.mark.parametrize(
    ("field", "value", "change"),
    [
        ("name", " The\nking ", {"name": "The king"}),
        ("content", " one\ntwo ", {"content": "one\ntwo"}),
        ("secondary", "a, b", {"secondary_keys": ("a", "b")}),
        ("logic", "AND all", {"logic": Logic.AND_ALL}),
        ("logic", "not-any", {"logic": Logic.NOT_ANY}),
        ("constant", "Yes", {"constant": True}),
        ("order", "-5", {"order": -5}),
        ("depth", "default", {"scan_depth": None}),
        ("depth", "0", {"scan_depth": 0}),
        ("whole-words", "default", {"whole_words": None}),
        ("case-sensitive", "off", {"case_sensitive": False}),
        ("probability", "100", {"probability": 100}),
    ],
)
def test_fields_of_an_entry(field: str, value: str, change: dict[str, Any]) -> None:
    assert entry_change(field, value) == change


@given(st.sampled_from(sorted(ENTRY_FIELDS)), st.text(max_size=30))
def test_no_value_does_harm(field: str, value: str) -> None:
    try:
        changed = replace(Entry("x"), **entry_change(field, value))
    except LoreRefused as refused:
        assert "\n" not in str(refused)  # noqa: PT017 - what it says, when it is raised
    else:
        assert 0 <= changed.probability <= 100
        assert all(split_key(key) is None or key.startswith("/") for key in changed.keys)


@pytest.mark.parametrize("field", ["nonsense", "", "persona", "uid"])
def test_other_fields_are_refused(field: str) -> None:
    with pytest.raises(LoreRefused, match="An entry has name, content"):
        entry_change(field, "1")


BOOK = Book(name="lore")


def book_with(field: str, value: str) -> Book:
    return changed_book(BOOK, field, value, {"mira": 1, "rex": 7}, "here-id")


def test_fields_of_a_lorebook() -> None:
    assert book_with("name", "Realm").name == "Realm"
    assert book_with("description", "x").description == "x"
    assert book_with("budget", "100").token_budget == 100
    assert book_with("recursive", "default").recursive is None
    assert book_with("depth", "3").scan_depth == 3
    assert book_with("persona", "REX").scope == Scope(7)
    assert book_with("persona", "all").scope == Scope()
    assert book_with("channels", "here, <#123> abc").scope == Scope(None, ("here-id", "123", "abc"))


@pytest.mark.parametrize(("field", "value"), [("name", ""), ("content", "x"), ("budget", "-1"), ("persona", "nobody")])
def test_other_values_of_a_lorebook_are_refused(field: str, value: str) -> None:
    with pytest.raises(LoreRefused):
        book_with(field, value)


@given(st.sampled_from([*BOOK_FIELDS, "channels", "persona"]), st.text(max_size=30))
def test_no_value_of_a_lorebook_does_harm(field: str, value: str) -> None:
    try:
        assert book_with(field, value).name
    except LoreRefused as refused:
        assert "\n" not in str(refused)  # noqa: PT017 - what it says, when it is raised


def test_a_persona_called_all_is_meant_before_everybody() -> None:
    assert lineage_of("All", {"all": 5}) == 5
    assert lineage_of("All", {}) is None


def test_channels_are_taken_once() -> None:
    assert channels_of("a, b a", "x") == ("a", "b")
    assert channels_of("everywhere", "x") == ()
    with pytest.raises(LoreRefused):
        channels_of(" ".join(str(n) for n in range(101)), "x")
