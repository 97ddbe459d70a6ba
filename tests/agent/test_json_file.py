from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.files import FileRefused
from agent.json_file import MAX_VALUES, SHOWN, Fields, Report, parse_object, storable

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=20,
)


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), values))
def test_an_object_is_read_with_or_without_a_byte_order_mark(data: dict[str, Any]) -> None:
    content = json.dumps(data).encode()
    assert parse_object(content, "a.json") == data
    assert parse_object(b"\xef\xbb\xbf" + content, "a.json") == data


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "no JSON: EOF"),
        (b"{", "line 1, column 1"),
        (b'{"a": 1,\n}', "trailing comma (line 2, column 1)"),
        (b"\xff\xfe", "no JSON"),
        (b'{"a": NaN}', "no JSON"),
        (b'{"a": "\\ud800"}', "no JSON"),
        (b'{"a":' * 300 + b"1" + b"}" * 300, "nested too deeply"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' + b"9" * 5_000 + b"}", "number out of range"),
        (b"[1]", "a JSON object is expected, this is a list"),
        (b"null", "this is null"),
        (b'{"a": [' + b"0," * MAX_VALUES + b"0]}", f"more than {MAX_VALUES} values"),
    ],
)
def test_what_is_no_object_is_refused_in_one_line(content: bytes, says: str) -> None:
    with pytest.raises(FileRefused) as refused:
        parse_object(content, "a.json")
    assert str(refused.value).startswith("a.json: ")
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


@given(st.binary(max_size=200))
def test_no_bytes_do_harm(content: bytes) -> None:
    try:
        assert isinstance(parse_object(content, "a"), dict)
    except FileRefused as refused:
        assert "\n" not in str(refused)  # noqa: PT017 - what it says, when it is raised


def read(data: dict[str, Any]) -> tuple[Fields, Report]:
    report = Report()
    return Fields(data, "entry 1", report), report


def test_fields_are_read_as_what_they_are() -> None:
    fields, report = read({"t": " a\0 ", "f": True, "w": 3.0, "l": ["a", " ", "b\nc"], "x": 1, "n": None})
    assert fields.text("t") == " a "
    assert fields.text("n", "default") == "default"
    assert fields.flag("f", default=False)
    assert fields.flag("missing", default=True)
    assert fields.flag_or_none("n") is None
    assert fields.whole("w", 0, 5) == 3
    assert fields.whole("n", 0, 5) is None
    assert fields.texts("l", most=2, longest=3) == ("a", "b c")
    assert fields.unknown(("t", "f", "w", "l", "n")) == {"x": 1}
    assert report.lines() == ()


@pytest.mark.parametrize("value", [1, [], {}, True, "text", 1.5, [1], ["a" * 9], ["a", "b", "c"], 10**400, 1e300])
def test_what_is_no_such_field_is_a_line_of_the_report(value: Any) -> None:
    fields, report = read({"k": value})
    fields.text("k", longest=3)
    fields.flag("k", default=True)
    fields.whole("k", 2, 5)
    fields.texts("k", most=2, longest=3)
    assert len(report.errors) >= 2
    assert all(line.startswith("entry 1: k: ") and len(line) < 120 for line in report.errors)


def test_a_long_report_is_counted() -> None:
    report = Report(notes=["note"])
    assert report.lines() == ("note",)
    report.errors += [f"error {number}" for number in range(SHOWN + 5)]
    assert report.lines()[0] == "error 0"
    assert report.lines()[-1] == "… and 5 more"
    assert len(report.lines()) == SHOWN + 1


@given(values)
def test_what_is_stored_has_nothing_that_the_database_refuses(value: Any) -> None:
    text = json.dumps(storable(value))
    assert "\\u0000" not in text
    assert storable(storable(value)) == storable(value)


def test_a_surrogate_is_replaced() -> None:
    assert storable({"a\0": ["\ud800"]}) == {"a": ["\ufffd"]}
