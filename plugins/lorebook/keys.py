"""Looking for keys in a text: plain words, and patterns within a time limit."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import regex

from plugins.lorebook.pattern import PatternRefused, compile_pattern, split_key, translate

MAX_PATTERN_TEXT: Final = 32_000
"""Characters, from the end, in which a pattern is looked for."""
MAX_STRIKES: Final = 3
"""How many times a pattern may take too long before it is looked for no more."""
_PROBE_SECONDS: Final = 0.02
# Letters, digits and marks, without the scripts that put no spaces between words, where a word has no edge.
_WORD: Final = regex.compile(
    r"[\w\p{M}--[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Myanmar}\p{Khmer}\u30FC]]+", regex.VERSION1
)


@dataclass(frozen=True, slots=True)
class Words:
    """A key of plain words, as it is looked for."""

    text: str
    """Folded unless case counts."""
    source: str
    words: frozenset[str] = frozenset()
    """What stands in every text in which the key stands as a whole."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A key that is a pattern."""

    compiled: regex.Pattern[str]
    source: str


type Key = Words | Pattern


def fold(text: str) -> str:
    """Return a text in the form in which case does not count."""
    return unicodedata.normalize("NFC", text.casefold())


def exact(text: str) -> str:
    """Return a text in the form in which case counts."""
    return unicodedata.normalize("NFC", text)


def make_key(source: str, *, case_sensitive: bool) -> Key:
    """Return a key ready to be looked for.

    Raises:
        PatternRefused: it has the form of a pattern and cannot be used as one.
    """
    parts = split_key(source)
    if parts is not None:
        return Pattern(compile_pattern(*parts), source)
    text = exact(source) if case_sensitive else fold(source)
    return Words(text, source, words_of(text))


def probe(source: str) -> str | None:
    """Return why a key cannot be used; None when it can. A pattern is tried on texts that such ones stumble over."""
    parts = split_key(source)
    if parts is None:
        return None
    try:
        compiled = compile_pattern(*parts)
        letters = translate(*parts).letters
        for again in [*letters[:6], letters[:6], "a", "1", "ab "]:
            # Much that fits, then what stops it; the letters behind it, because a search for lacking ones ends at once.
            compiled.search(f"{again * 40}\0{letters}", timeout=_PROBE_SECONDS, concurrent=True)
    except PatternRefused as error:
        return f"{source} is no usable pattern: {error}"
    except TimeoutError:
        return f"{source} takes too long: it tries too many ways to read the same text"
    return None


def find_words(words: str, text: str, *, whole: bool) -> bool:
    """Tell whether words stand in a text of the same form; `whole`: not within a longer word."""
    if not words or words not in text:
        return False
    if not whole:
        return True
    at = text.find(words)
    while at >= 0:
        end = at + len(words)
        if not (_joined(text[at - 1 : at], words[0]) or _joined(words[-1], text[end : end + 1])):
            return True
        at = text.find(words, at + 1)
    return False


def _joined(left: str, right: str) -> bool:
    """Tell whether two neighbouring characters belong to one word."""
    return bool(left and right and _WORD.fullmatch(left) and _WORD.fullmatch(right))


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text; those of a key that stands in it as a whole are among them."""
    return frozenset(_WORD.findall(text, concurrent=True))


@dataclass(slots=True)
class PatternSearch:
    """The patterns of one scan: each has `each` seconds, all of them together `total`.

    `strikes` outlives the scan: a pattern that was late too often is looked for no more.
    """

    strikes: Counter[str]
    each: float
    total: float
    monotonic: Callable[[], float]
    late: list[str] = field(default_factory=list)
    """Which patterns took too long."""

    def __call__(self, pattern: Pattern, text: str) -> bool:
        """Tell whether a pattern is found in time."""
        if self.total <= 0 or self.strikes[pattern.source] >= MAX_STRIKES:
            return False
        began = self.monotonic()
        try:
            # `concurrent` lets go of the interpreter meanwhile, so that the event loop is not held up.
            found = pattern.compiled.search(
                text[-MAX_PATTERN_TEXT:], timeout=min(self.each, self.total), concurrent=True
            )
        except TimeoutError:
            self.strikes[pattern.source] += 1
            self.late.append(pattern.source)
            found = None
        self.total -= self.monotonic() - began
        return found is not None
