"""Words that are written almost alike: so that a slip or another ending still finds something.

The same measure as PostgreSQL's pg_trgm, which the database uses for large collections. Only words
with the same first letters are compared. Pairs of characters, which stand for scripts without spaces, resemble nothing:
any word of those is found by its pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

LEAST_LETTERS: Final = 4
"""Of a word that may resemble another."""
LEAST_LIKENESS: Final = 0.4
MOST_ALIKE: Final = 2
"""Words that stand for one that was asked for: what measured best (benchmarks/bench_recall.py)."""
_BEGINNING: Final = 2


class WordIndex:
    """The longer ones of some words, by their first letters."""

    __slots__ = ("_words",)

    def __init__(self, words: Iterable[str]) -> None:
        self._words: dict[str, list[str]] = {}
        for word in dict.fromkeys(words):
            if len(word) >= LEAST_LETTERS:
                self._words.setdefault(word[:_BEGINNING], []).append(word)

    def beginning_as(self, word: str) -> Sequence[str]:
        """Return the words that may resemble one."""
        return self._words.get(word[:_BEGINNING], ())


def with_alike(asked: Sequence[str], indexes: Sequence[WordIndex]) -> dict[str, float]:
    """Return the words to look for, each with how much it is what was asked for: 1 for those that were.

    Some words of the indexes that resemble an asked one most come along, with their likeness.
    """
    found = dict.fromkeys(asked, 1.0)
    for word in asked:
        if len(word) < LEAST_LETTERS:
            continue
        grams = _trigrams(word)
        others = {other for index in indexes for other in index.beginning_as(word) if _may_resemble(grams, other)}
        alike = [
            (likeness, other) for other in others - {word} if (likeness := similarity(word, other)) >= LEAST_LIKENESS
        ]
        for likeness, other in sorted(alike, key=lambda pair: (-pair[0], pair[1]))[:MOST_ALIKE]:
            found[other] = max(likeness, found.get(other, 0.0))
    return found


def _may_resemble(grams: set[str], other: str) -> bool:
    """Tell whether it is worth looking closer; nearly every word is passed over here.

    Exactly so many groups are common; a word of `LEAST_LETTERS` has as many different ones at least.
    """
    padded = f"  {other} "
    common = 0
    for gram in grams:
        if gram in padded:
            common += 1
    return common / (len(grams) + max(LEAST_LETTERS, common) - common) >= LEAST_LIKENESS


def similarity(one: str, other: str) -> float:
    """Return how alike two words are, from 0 to 1: the share of their groups of three letters that both have."""
    first, second = _trigrams(one), _trigrams(other)
    return len(first & second) / len(first | second)


def _trigrams(word: str) -> set[str]:
    padded = f"  {word} "
    return {padded[begin : begin + 3] for begin in range(len(padded) - 2)}
