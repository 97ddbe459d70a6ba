from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.similar_words import LEAST_LETTERS, LEAST_LIKENESS, MOST_ALIKE, WordIndex, similarity, with_alike
from agent.store.pool import Store

WORDS = ("telescope", "telescopes", "tellescope", "television", "tele", "kettle", "straße", "ärger", "naïve", "a1b2")


async def test_the_likeness_is_that_of_postgresql(store: Store) -> None:
    async with store.connection() as conn:
        await conn.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
        for one in WORDS:
            for other in WORDS:
                given = await conn.fetchval("SELECT similarity($1, $2)", one, other)
                assert similarity(one, other) == pytest.approx(given, abs=1e-6), (one, other)


def test_the_most_alike_come_along() -> None:
    index = WordIndex(["telescope", "telescopic", "television", "tellescopes", "teapot", "kettle", "telescopes"])
    found = with_alike(["telescope", "kettle", "tea"], [index, WordIndex(["telescopes"])])
    assert list(found) == ["telescope", "kettle", "tea", "telescopes", "telescopic"]
    assert found["telescope"] == found["kettle"] == 1.0
    assert LEAST_LIKENESS <= found["telescopic"] < found["telescopes"] < 1.0


def test_short_words_and_pairs_of_characters_resemble_nothing() -> None:
    index = WordIndex(["cat", "cats", "釣り", "catsup"])
    assert with_alike(["cat", "釣り", "cut"], [index]) == {"cat": 1.0, "釣り": 1.0, "cut": 1.0}


LETTERS = st.text("abcd", min_size=1, max_size=9)


@given(st.lists(LETTERS, max_size=8), st.lists(LETTERS, max_size=20))
def test_what_was_asked_for_stays_first_and_whole(asked: list[str], kept: list[str]) -> None:
    found = with_alike(asked, [WordIndex(kept)])
    assert list(found)[: len(set(asked))] == list(dict.fromkeys(asked))
    assert all(found[word] == 1.0 for word in asked)
    come_along = {word: likeness for word, likeness in found.items() if word not in asked}
    assert come_along.keys() <= set(kept)
    assert all(LEAST_LIKENESS <= likeness <= 1 for likeness in come_along.values())


@given(st.lists(LETTERS, max_size=4), st.lists(LETTERS, max_size=20))
def test_no_word_that_resembles_enough_is_passed_over(asked: list[str], kept: list[str]) -> None:
    found = with_alike(asked, [WordIndex(kept)])
    for word in asked:
        others = {other for other in kept if other[:2] == word[:2] and other != word}
        alike = sorted(
            (-similarity(word, other), other)
            for other in others
            if min(len(word), len(other)) >= LEAST_LETTERS and similarity(word, other) >= LEAST_LIKENESS
        )
        assert found.keys() >= {other for _, other in alike[:MOST_ALIKE]}
