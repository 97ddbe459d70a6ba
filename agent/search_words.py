"""The words by which a text is found, the same for what is kept and for what is asked.

They stand in a column of type tsvector, written with `array_to_tsvector`: the `simple` configuration, except that texts
are cut into words here and not by PostgreSQL's parser, which knows no words in languages without spaces and takes apart
what it believes to be an address. A run of such a script is kept as pairs of neighbouring characters, so that any word
within it is found. Writing differences fold: width, case, and the accents of Latin, Greek and Cyrillic.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator
from typing import Final

import regex

LONGEST_WORD: Final = 40
"""What is kept of a longer one, in characters."""
MOST_WORDS: Final = 4_000
"""Of one text that is kept; a page of prose has 500."""
MOST_TERMS: Final = 24
"""Of one question."""

_ACCENT = regex.compile(r"[\u0300-\u036f]+")
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー々"
#: A run of a script without spaces, or letters and digits; C++ and C# are words as well.
_WORD = regex.compile(
    rf"(?P<unspaced>[{_UNSPACED}][{_UNSPACED}\p{{M}}]*)|[\p{{L}}\p{{N}}--[{_UNSPACED}]]"
    rf"(?:[\p{{L}}\p{{N}}\p{{M}}--[{_UNSPACED}]]+|[+\#]{{1,2}}(?![\p{{L}}\p{{N}}]))?",
    regex.V1,
)


def fold(text: str) -> str:
    """Return the text without differences of width, case and accent."""
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFC", _ACCENT.sub("", folded))


def words(text: str) -> Iterator[str]:
    """Yield the words of a text in their order, folded; of scripts without spaces, pairs of characters."""
    for match in _WORD.finditer(fold(text)):
        found = match[0]
        if match["unspaced"] is None or len(found) == 1:
            yield found[:LONGEST_WORD]
        else:
            yield from (found[begin : begin + 2] for begin in range(len(found) - 1))


def words_to_keep(*texts: str) -> list[str]:
    """Return the distinct words of texts (names too), for `array_to_tsvector($1::text[])`."""
    return list(_distinct(texts, MOST_WORDS))


def with_names(text: str, *names: str) -> str:
    """Return what is embedded of a text that is kept: the names of whom it is by and about, then the text."""
    return f"{', '.join(dict.fromkeys(names))}: {text}" if names else text


def terms(question: str, frequent: Collection[str] = frozenset(), most: int = MOST_TERMS) -> list[str]:
    """Return the distinct words to look for: without single letters, and without the frequent unless all are."""
    asked = list(_distinct((question,), MOST_WORDS))
    telling = [word for word in asked if len(word) > 1 or not word.isascii()] or asked
    return ([word for word in telling if word not in frequent] or telling)[:most]


def any_of(words: Collection[str]) -> str:
    """Return the query, for `$1::text::tsquery`, that a row answers which holds one of the words."""
    return " | ".join(quoted(word) for word in words)


def quoted(word: str) -> str:
    """Return a word as it stands in the text of a tsquery."""
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"


def _distinct(texts: Collection[str], most: int) -> Iterator[str]:
    seen: set[str] = set()
    for text in texts:
        for word in words(text):
            if word not in seen:
                seen.add(word)
                yield word
                if len(seen) == most:
                    return
