from __future__ import annotations

import time

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from plugins.documents.chunking import SIZE, packed, parts, pieces
from plugins.documents.text import Section

FAMILY = "👨‍👩‍👧‍👦"


def chunks(text: str, size: int = SIZE) -> list[str]:
    return [part.content for part in parts([Section("", text)], size)]


def test_what_fits_together_stays_together() -> None:
    assert chunks("One.\n\nTwo.") == ["One.\n\nTwo."]


def test_a_cut_is_made_between_paragraphs_before_it_is_made_between_sentences() -> None:
    first, second = "First one. " * 4, "Second one. " * 4
    assert chunks(f"{first}\n\n{second}", 60) == [first.strip(), second.strip()]


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    assert chunks("It costs 1.5 coins! Does it? “Yes.” And so on.", 20) == [
        "It costs 1.5 coins!",
        "Does it? “Yes.”",
        "And so on.",
    ]
    assert chunks("今日は晴れです。明日は雨です。", 9) == ["今日は晴れです。", "明日は雨です。"]


def test_the_items_of_a_list_are_not_torn() -> None:
    text = "- one two three\n- four five six\n1. seven eight"
    assert chunks(text, 16) == ["- one two three", "- four five six", "1. seven eight"]


def test_a_long_sentence_is_cut_between_words_and_a_long_word_between_characters() -> None:
    assert chunks("alpha beta gamma", 11) == ["alpha beta", "gamma"]
    assert chunks("abcdefgh", 3) == ["abc", "def", "gh"]
    assert chunks(FAMILY * 3, 8) == [FAMILY] * 3
    assert chunks("e\u0301" * 4, 3) == ["e\u0301"] * 4


def test_a_part_stays_within_its_section_and_knows_its_heading() -> None:
    found = list(parts([Section("A", "one"), Section("A › B", "two"), Section("C", " ")]))
    assert [(part.heading, part.content) for part in found] == [("A", "one"), ("A › B", "two"), ("C", "C")]


@given(st.text(alphabet="ab.!? \n\te\u0301👨\u200d👩。-*", max_size=400), st.integers(4, 60))
def test_nothing_is_lost_and_nothing_is_too_long(text: str, size: int) -> None:
    spans = list(packed(pieces(text, size), size))
    assert "".join(text[begin:end] for begin, end in spans) == text
    assert all(0 < end - begin <= size for begin, end in spans)
    assert all(content and len(content) <= size for content in chunks(text, size))
    assert "".join("".join(chunks(text, size)).split()) == "".join(text.split())


@given(st.lists(st.sampled_from(["a", "e\u0301\u0302", FAMILY, "🇩🇪", "각"]), max_size=40), st.integers(12, 40))
def test_no_character_is_cut(characters: list[str], size: int) -> None:
    text = "".join(characters)
    whole = regex.findall(r"\X", text)
    assert [c for content in chunks(text, size) for c in regex.findall(r"\X", content)] == whole


@pytest.mark.parametrize("hostile", ["." * 300_000, "\n" * 300_000, "\n " * 150_000, "a" * 300_000, ".\n" * 150_000])
def test_a_hostile_text_takes_no_time(hostile: str) -> None:
    began = time.perf_counter()
    chunks(hostile)
    assert time.perf_counter() - began < 3
