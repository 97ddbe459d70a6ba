from __future__ import annotations

import pytest

from benchmarks.recall_words import content_words, shares_word, stem


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("en", "planting", "plants"),
        ("en", "running", "run"),
        ("en", "parties", "party"),
        ("en", "prized", "prize"),
        ("de", "schülern", "schüler"),
        ("de", "reparaturen", "reparatur"),
        ("es", "montañas", "montaña"),
        ("es", "trabajando", "trabaja"),
    ],
)
def test_forms_of_a_word_have_one_stem(language: str, one: str, other: str) -> None:
    assert content_words(one, language) == content_words(other, language)


def test_short_words_stay() -> None:
    assert stem("bus", "en") == "bus"
    assert stem("ring", "en") == "ring"


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "who didn't do it, and why is he there?"),
        ("de", "wer hat das wohin gemacht?"),
        ("es", "quién está aquí?"),
    ],
)
def test_words_without_content_are_none(language: str, question: str) -> None:
    assert content_words(question, language) == frozenset()


def test_a_word_is_shared_with_any_of_the_turns() -> None:
    assert shares_word("who plants the beans?", ["not yet", "she was planting"], "en")
    assert not shares_word("who plants the beans?", ["not yet", "she was sowing"], "en")
    assert shares_word("gdzie stoi rower?", ["rower tam"], "xx"), "an unknown language still compares words"
