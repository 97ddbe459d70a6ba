import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.memory.transfer.entries import MAX_ENTRIES, ImportRefused, LineageKind, Person, Source, Spot
from plugins.memory.transfer.reading import read_file
from tests.plugins.memory.transfer.traffic import file_of


def read(data: Any) -> Any:
    return read_file(json.dumps(data).encode(), "m.json")


def faults(data: Any) -> tuple[str, ...]:
    content = data if isinstance(data, bytes) else json.dumps(data).encode()
    with pytest.raises(ImportRefused) as refused:
        read_file(content, "m.json")
    return refused.value.lines


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe{}", "m.json: this is no text in UTF-8 (byte 0): save it as UTF-8"),
        (b"", "m.json: this is no JSON"),
        (b"hello", "m.json: this is no JSON"),
        (b'{"format": "isthmus-memories"', "m.json: this is no JSON"),
        (b"[" * 300 + b"]" * 300, "m.json: this is no JSON: it is nested too deeply"),
        (b"[" + b"1," * 400_000 + b"1]", "m.json: it holds more than 300000 values"),
        (b"7", "m.json: this is no file of memories; expected is an export of isthmus"),
        (b"{}", "m.json: this is no file of memories; expected is an export of isthmus"),
        (b'{"format": "other"}', "m.json: format 'other' is not known; 'isthmus-memories' is what isthmus writes"),
        (b'{"format": ["x"]}', "m.json: format a list is not known"),
        (b'{"format": "isthmus-memories"}', "m.json: version: 1 is expected, this is null"),
        (b'{"format": "isthmus-memories", "version": true}', "m.json: version: 1 is expected, this is true or false"),
        (b'{"format": "isthmus-memories", "version": 2}', "m.json: version 2 was written by a newer isthmus"),
        (b'{"format": "isthmus-memories", "version": 0}', "m.json: version 0 is not read any more"),
        (b'{"format": "isthmus-memories", "version": 1}', "m.json: there are no memories in this file"),
    ],
)
def test_what_is_no_file_of_memories(content: bytes, said: str) -> None:
    [line] = faults(content)
    assert line.startswith(said)


def test_every_fault_is_one_line_with_its_place() -> None:
    entries: list[Any] = [
        7,
        {},
        {"content": 7},
        {"content": "x", "audience": "all"},
        {"content": "x", "tags": "a"},
        {"content": "x", "created_at": "yesterday"},
        {"content": "x", "lineage": "lineage-7"},
        {"content": "x", "lineage": "global"},
        {"content": "x", "about": {"platform": "console"}},
        {"content": "x", "about": "Ana"},
    ]
    assert faults(file_of(*entries, lineages={"l": 1})) == (
        "lineages: l: an object is expected, this is a number",
        "entry 1 (server_memories[0]): an object is expected, this is a number",
        "entry 2 (server_memories[1]): content: a text is expected, this is missing or empty",
        "entry 3 (server_memories[2]): content: a text is expected, this is a number",
        "entry 4 (server_memories[3]): audience: open, server, channel, person are expected, this is 'all'",
        "entry 5 (server_memories[4]): tags: a list of texts is expected, this is a text",
        "entry 6 (server_memories[5]): created_at: a moment like 2026-03-01T20:00:00Z is expected, this is 'yesterday'",
        "entry 7 (server_memories[6]): lineage: 'lineage-7' does not stand in the file's lineages",
        "entry 8 (server_memories[7]): lineage: only personal memories can be global",
        "entry 9 (server_memories[8]): about: id: a text is expected, this is missing or empty",
        "entry 10 (server_memories[9]): about: an object is expected, this is a text",
    )
    assert faults({**file_of(), "server_memories": {}}) == ("server_memories: a list is expected, this is an object",)


def test_too_many_entries() -> None:
    [line] = faults(file_of(*({"content": "x"} for _ in range(MAX_ENTRIES + 1))))
    assert line == "server_memories[10000]: one file may hold at most 10000 memories"


def test_a_whole_entry() -> None:
    entry = {
        "content": "x",
        "lineage": "lineage-7",
        "person": {"platform": "discord", "id": 123, "name": "Ana"},
        "audience": "channel",
        "place": {"platform": "discord", "server": "1", "channel": "2"},
        "created_at": "2026-03-01T20:00:00+02:00",
    }
    parsed = read(file_of(personal=(entry,), lineages={"lineage-7": {"personas": ["Fern"]}}))
    assert parsed.source is Source.ISTHMUS
    [read_entry] = parsed.entries
    assert read_entry.person == Person("123", "discord", "Ana")
    assert read_entry.spot == Spot("discord", "1", "2")
    assert read_entry.created_at.isoformat() == "2026-03-01T18:00:00+00:00"
    assert (read_entry.lineage.kind, read_entry.lineage.names) == (LineageKind.NAMED, ("Fern",))


def test_unknown_fields_are_named() -> None:
    entries = [{"content": "x", "mood": 1, "about": {"id": "a", "age": 3}}, {"content": "y", "mood": 2}]
    parsed = read(file_of(*entries, extra=1, lineages={"l": {"personas": [], "more": 1}}))
    assert parsed.notes == (
        "field 'extra': not known, left out",
        "lineages: l: field 'more': not known, left out",
        "field 'about.age': not taken over (entry 1)",
        "field 'mood': not taken over (entries 1, 2)",
    )


leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
names = st.sampled_from(
    [
        *("format", "version", "lineages", "server_memories", "personal_memories", "content", "about", "person"),
        *("place", "id", "tags", "lineage", "audience", "created_at", "memory", "results", "memories", "user_id"),
        *("entries", "character_book", "spec", "data", "key", "keys", "disable", "personas", "timestamp"),
    ]
)
values = st.recursive(
    leaves | st.sampled_from(["isthmus-memories", 1, "default", "global", "server", "2026-01-01", "chara_card_v2"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names | st.text(max_size=5), inner, max_size=6),
    max_leaves=30,
)


@given(values | st.dictionaries(names, values).map(lambda data: {**data, "format": "isthmus-memories", "version": 1}))
def test_whatever_a_file_holds_it_is_read_or_refused_in_words(data: Any) -> None:
    refused: tuple[str, ...] = ()
    entries: tuple[Any, ...] = ()
    try:
        entries = read(data).entries
    except ImportRefused as error:
        refused = error.lines
    assert bool(refused) is not bool(entries)
    assert all("\n" not in line for line in refused)
    assert all(entry.content.strip() for entry in entries)


@given(st.binary())
def test_whatever_bytes_a_file_has(content: bytes) -> None:
    assert faults(content)


@pytest.mark.parametrize(
    "content",
    [
        b'{"format": "isthmus-memories", "version": ' + b"9" * 5000 + b"}",
        b'{"server_memories": [{"content": "x", "user_id": 1, "timestamp": ' + b"9" * 5000 + b"}]}",
        b'{"format": "isthmus-memories", "version": 1, "server_memories": [{"content": "x", "about": {"id": '
        + b"9" * 5000
        + b"}}]}",
    ],
)
def test_numbers_of_thousands_of_digits(content: bytes) -> None:
    assert len(faults(content)) == 1


@pytest.mark.parametrize("spec", [[], {}, [{}], {"a": []}, 5, None, True])
def test_a_file_may_say_anything_about_what_it_is(spec: object) -> None:
    assert faults({"spec": spec})
