from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.files import FileRefused
from plugins.lorebook.book import MAX_PATTERNS, Book, Entry, Logic
from plugins.lorebook.reading import MAX_JSON, read_book
from plugins.lorebook.writing import Form, write_book
from tests.plugins.lorebook.files import as_json, card, card_entry, in_base64, png, st_book, st_entry


def read(content: bytes, name: str = "My lore.json") -> tuple[Book, list[str]]:
    book, report = read_book(content, name, most_entries=100)
    assert report.errors == []
    assert book is not None
    return book, report.notes


def errors(content: bytes) -> list[str]:
    book, report = read_book(content, "a.json", most_entries=100)
    assert book is None
    return report.errors


def test_a_plain_book_of_sillytavern() -> None:
    book, notes = read(st_book(st_entry(3, key=["dragon", " wyrm "], comment="Dragon"), st_entry(1, constant=True)))
    assert (book.name, notes) == ("My lore", [])
    assert [entry.uid for entry in book.entries] == [1, 3]
    constant, dragon = book.entries
    assert (dragon.name, dragon.keys, dragon.content) == ("Dragon", ("dragon", "wyrm"), "The dragon sleeps.")
    assert (constant.constant, dragon.constant, dragon.enabled, dragon.scan_depth) == (True, False, True, None)


def test_every_field_that_is_used() -> None:
    entry = st_entry(
        0,
        keysecondary=["red", "/gr[ae]y/i"],
        selectiveLogic=2,
        order=7,
        disable=True,
        scanDepth=9,
        matchWholeWords=False,
        caseSensitive=True,
        probability=40,
        excludeRecursion=True,
        preventRecursion=True,
        delayUntilRecursion=True,
        selective=False,
    )
    book, notes = read(st_book(entry, name="Given", scan_depth=6, token_budget=500, recursive_scanning=False))
    assert notes == []
    assert (book.name, book.scan_depth, book.token_budget, book.recursive) == ("Given", 6, 500, False)
    (made,) = book.entries
    assert (made.secondary_keys, made.logic, made.selective) == (("red", "/gr[ae]y/i"), Logic.NOT_ANY, False)
    assert (made.order, made.enabled, made.scan_depth, made.probability) == (7, False, 9, 40)
    assert (made.whole_words, made.case_sensitive) == (False, True)
    assert (made.exclude_recursion, made.prevent_recursion, made.delay_until_recursion) == (True, True, True)


@pytest.mark.parametrize("number", range(4))
def test_the_numbers_of_the_logics_are_sillytaverns(number: int) -> None:
    book, _ = read(st_book(st_entry(0, selectiveLogic=number)))
    assert book.entries[0].logic is [Logic.AND_ANY, Logic.NOT_ALL, Logic.NOT_ANY, Logic.AND_ALL][number]


def test_what_is_not_used_is_said_line_by_line_and_kept() -> None:
    entries = [st_entry(n, comment=f"E{n}", position=4, depth=2) for n in range(7)]
    content = st_book(*entries, st_entry(9, sticky=3, group="g", vectorized=True, mystery={"a": [1]}), shelf="top")
    book, notes = read(content)
    assert notes == [
        "shelf: kept for the export, not used",
        f"position: kept for the export, not used (in {', '.join(f'entry {n} (E{n})' for n in range(5))} and 2 more)",
        "vectorized: kept for the export, not used (in entry 9)",
        "group: kept for the export, not used (in entry 9)",
        "sticky: kept for the export, not used (in entry 9)",
        "mystery: kept for the export, not used (in entry 9)",
    ]
    written = json.loads(write_book(book, Form.SILLYTAVERN))
    assert written["shelf"] == "top"
    before = json.loads(content)["entries"]
    for uid, entry in written["entries"].items():
        assert {key: value for key, value in before[uid].items() if entry.get(key) != value} == {}


def test_notes_on_what_means_something_else_here() -> None:
    entry = st_entry(
        0,
        probability=30,
        useProbability=False,
        delayUntilRecursion=2,
        content="@@depth 3\nThe dragon sleeps.",
    )
    book, notes = read(st_book(entry))
    assert (book.entries[0].probability, book.entries[0].delay_until_recursion) == (100, True)
    assert notes == [
        "entry 0: probability: 30 is switched off in the file, and so not taken over",
        "entry 0: delayUntilRecursion: level 2 is taken for the first",
        "content: lines that begin with @@ are kept and not shown (in entry 0)",
    ]


@pytest.mark.parametrize("spec", ["chara_card_v2", "chara_card_v3"])
def test_the_book_of_a_character_card(spec: str) -> None:
    entry = card_entry(
        5,
        keys=["/Dragons?/", "wyrms?"],
        secondary_keys=["red"],
        selective=True,
        insertion_order=3,
        enabled=False,
        case_sensitive=True,
        position="after_char",
        priority=10,
    )
    entry["extensions"] |= {
        "selectiveLogic": 3,
        "match_whole_words": True,
        "scan_depth": 2,
        "position": 1,
        "other/x": 1,
    }
    book, notes = read(as_json(card(entry, spec=spec)))
    (made,) = book.entries
    assert (book.name, made.name, made.uid, made.order, made.enabled) == ("Fern's lorebook", "Entry 5", 5, 3, False)
    assert (made.keys, made.logic) == (("/Dragons?/", "wyrms?"), Logic.AND_ALL)
    assert (made.case_sensitive, made.whole_words, made.scan_depth) == (True, True, 2)
    assert notes == [
        "entry 1 (Entry 5): keys: wyrms? is taken for plain words; a pattern is written /…/",
        "priority: kept for the export, not used (in entry 1 (Entry 5))",
        "extensions: kept for the export, not used (in entry 1 (Entry 5))",
    ]
    assert made.extra["extensions"] == {"other/x": 1}


def test_other_shapes_of_the_same_thing() -> None:
    entry = card_entry(0)
    bare = {"name": "Bare", "entries": [entry]}
    assert read(as_json(bare))[0].name == "Bare"
    assert read(as_json({"spec": "lorebook_v3", "data": bare}))[0].name == "Bare"
    assert read(as_json(card(entry, name="")), "Old.json")[0].name == "Old"
    assert (
        len(read(as_json({"entries": [{"keys": ["x"], "content": "y"}, {"keys": ["z"], "content": "y"}]}))[0].entries)
        == 2
    )


def test_a_card_in_a_picture() -> None:
    older, newer = card(card_entry(1), name="Old"), card(card_entry(1), name="New", spec="chara_card_v3")
    assert read(png(chara=in_base64(older)), "a.png")[0].name == "Old's lorebook"
    assert read(png(chara=in_base64(older), ccv3=in_base64(newer)), "a.png")[0].name == "New's lorebook"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"not json", "no JSON"),
        (b"[]", "a JSON object is expected"),
        (b"{}", "neither a lorebook"),
        (as_json({"entries": "many"}), "neither a lorebook"),
        (as_json({"spec": "chara_card_v2", "data": {"name": "Fern"}}), "no lorebook"),
        (as_json({"spec": "chara_card_v2", "data": {"character_book": 7}}), "no list of entries"),
        (as_json({"lorebookVersion": 5, "entries": []}), "NovelAI"),
        (as_json({"kind": "memory", "entries": []}), "Agnai"),
        (as_json({"type": "risu", "ver": 1, "data": []}), "RisuAI"),
        (st_book(*(st_entry(n) for n in range(101))), "it has 101 entries; at most 100"),
        (b" " * (MAX_JSON + 1), "larger than 4 MiB"),
        (b'{"entries":' * 300 + b"1" + b"}" * 300, "nested too deeply"),
    ],
)
def test_a_file_that_is_no_lorebook_is_refused_in_one_line(content: bytes, says: str) -> None:
    with pytest.raises(FileRefused) as refused:
        read_book(content, "a.json", most_entries=100)
    assert str(refused.value).startswith("a.json: ")
    assert says in str(refused.value)


def test_each_fault_is_said_with_its_place_and_nothing_is_taken() -> None:
    content = st_book(
        st_entry(0, comment="Dragon", key="dragon", order="high"),
        st_entry(1, content=["x"], constant="yes", selectiveLogic=4),
        st_entry(2, key=["/(/", "/(a|a)*b/", "ok"], probability=101, scanDepth=-1),
        st_entry(3, content="x" * 20_001, keysecondary=["k"] * 101),
    )
    data = json.loads(content)
    data["entries"]["4"] = "nothing"
    data["token_budget"] = "lots"
    said = errors(as_json(data))
    assert said == [
        "entry 0 (Dragon): key: a list of texts is expected, this is a text",
        "entry 0 (Dragon): order: a whole number is expected, this is a text",
        "entry 1: selectiveLogic: a number from 0 to 3 is expected, this is 4",
        "entry 1: content: a text is expected, this is a list",
        "entry 1: constant: true or false is expected, this is a text",
        "entry 2: key: /(/ is no usable pattern: a ( is not closed",
        "entry 2: key: /(a|a)*b/ takes too long: it tries too many ways to read the same text",
        "entry 2: scanDepth: a number from 0 to 1000 is expected, this is -1",
        "entry 2: probability: a number from 0 to 100 is expected, this is 101",
        "entry 3: content: at most 20000 characters are expected, these are 20001",
        "entry 3: keysecondary: at most 100 texts are expected, these are 101",
        "entry 4: an object is expected, this is a text",
        "token_budget: a whole number is expected, this is a text",
    ]


def test_faults_in_a_card_are_named_as_the_card_does() -> None:
    entry = card_entry(0, keys=7, enabled="on", insertion_order=[], extensions={"scan_depth": "x"})
    assert errors(as_json(card(entry))) == [
        "entry 1 (Entry 0): keys: a list of texts is expected, this is a number",
        "entry 1 (Entry 0): enabled: true or false is expected, this is a text",
        "entry 1 (Entry 0): insertion_order: a whole number is expected, this is a list",
        "entry 1 (Entry 0): extensions.scan_depth: a whole number is expected, this is a text",
    ]


def test_too_many_patterns_are_one_fault() -> None:
    entries = [st_entry(n, key=[f"/{n}x{m}/" for m in range(100)]) for n in range(MAX_PATTERNS // 100 + 5)]
    assert errors(st_book(*entries)) == [f"entry 10: key: there are more than {MAX_PATTERNS} patterns in this file"]


def test_numbers_that_are_missing_or_double_are_given_anew() -> None:
    book, _ = read(as_json({"entries": {"a": st_entry(1), "b": st_entry(1), "c": {**st_entry(2), "uid": "x"}}}))
    assert [entry.uid for entry in book.entries] == [1, 2, 3]


texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=20)
names = texts.map(lambda text: " ".join(text.split())).filter(lambda text: text.isprintable())
words = names.filter(lambda key: bool(key) and not key.startswith("/"))
json_values = st.none() | st.booleans() | st.integers(-5, 5) | names | st.lists(st.integers(0, 3), max_size=2)
flags = st.none() | st.booleans()
extras = st.dictionaries(
    st.sampled_from(["position", "depth", "group", "sticky", "vectorized", "mystery", "priority", "role"]),
    json_values.filter(lambda value: value is not None),
    max_size=4,
)
entries = st.lists(
    st.builds(
        Entry,
        content=texts,
        keys=st.lists(words | st.just("/drag(on|oon)s?/i"), max_size=3, unique=True).map(tuple),
        secondary_keys=st.lists(words, max_size=3, unique=True).map(tuple),
        logic=st.sampled_from(Logic),
        selective=st.booleans(),
        constant=st.booleans(),
        enabled=st.booleans(),
        order=st.integers(-1_000, 1_000),
        scan_depth=st.none() | st.integers(0, 1_000),
        whole_words=flags,
        case_sensitive=flags,
        probability=st.integers(0, 100),
        exclude_recursion=st.booleans(),
        prevent_recursion=st.booleans(),
        delay_until_recursion=st.booleans(),
        name=names,
        uid=st.integers(0, 50),
        extra=extras,
    ),
    max_size=5,
    unique_by=lambda entry: entry.uid,
).map(lambda made: tuple(sorted(made, key=lambda entry: entry.uid)))
books = st.builds(
    Book,
    name=names.filter(bool),
    entries=entries,
    description=texts,
    scan_depth=st.none() | st.integers(0, 1_000),
    token_budget=st.none() | st.integers(0, 1_000),
    recursive=flags,
)


@given(books, st.sampled_from(Form))
def test_what_is_written_is_read_as_the_same_book(book: Book, form: Form) -> None:
    again, report = read_book(write_book(book, form), "x.json", most_entries=10)
    assert report.errors == []
    assert again == book


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)


@given(
    st.sampled_from(sorted(st_entry(0))), st.sampled_from(sorted(card_entry(0))), anything, st.booleans(), st.booleans()
)
def test_no_value_of_any_field_does_harm(field: str, of_card: str, value: Any, in_card: bool, extended: bool) -> None:
    if in_card:
        entry = card_entry(0)
        (entry["extensions"] if extended else entry)[of_card] = value
        content = as_json(card(entry))
    else:
        content = st_book({**st_entry(0), "uid": 0, **({field: value} if field != "uid" else {})})
    book, report = read_book(content, "a.json", most_entries=10)
    assert (book is None) is bool(report.errors)
    assert all("\n" not in line for line in [*report.errors, *report.notes])
