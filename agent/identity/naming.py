"""Whom a question names, and what it asks without the names; pure.

This only prefers something when it is read: no identity and no write ever rests on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from agent.identity.names import normalise
from agent.identity.words import TEXT_LIMIT, phrases

_LONGEST: Final = 5
"""Words of a name."""
_SHORTEST: Final = 2
"""Characters of a name."""
_LETTER: Final = re.compile(r"\w")
_WORD: Final = re.compile(r"\S+")
_EDGES: Final = (
    re.compile(r"[^\w(]*(?P<name>.*?)(?P<rest>(?:['\u2019]s)?[^\w)]*)", re.DOTALL),
    re.compile(r"\W*(?P<name>.*?)(?P<rest>(?:['\u2019]s)?\W*)", re.DOTALL),
)
"""What stands around a name: first with the brackets that a label ends with, then without any."""
_ADDITION: Final = re.compile(r"(?P<name>.*\S)\s*\([^()]*\)")
"""A label that says more in brackets, as those of proxied people do: `Wren (Lark system)`."""


@dataclass(frozen=True, slots=True)
class Bearer:
    """Somebody with the names under which a text may mean them."""

    keys: frozenset[str]
    """Who it is, as in `RecallQuery.named`; empty for the agent, whose name says nothing about what is asked."""
    label: str
    names: tuple[str, ...] = ()
    """Further names, as a username."""

    @property
    def known_as(self) -> frozenset[str]:
        """Return all names in the form under which names are compared."""
        short = _ADDITION.fullmatch(self.label)
        names = {normalise(name) for name in (self.label, *self.names, *([short["name"]] if short else []))}
        return frozenset(name for name in names if len(name) >= _SHORTEST)


@dataclass(frozen=True, slots=True)
class Naming:
    """What a text says about whom."""

    keys: frozenset[str]
    """Who is named, by key."""
    rest: str
    """The text without the names; the whole text where nothing else stands in it."""


def naming(text: str, bearers: Iterable[Bearer]) -> Naming:
    """Return who is named in a text by whole names, and the text without them.

    Of two names in the same place the longer one counts ("Anna Berg" is not "Anna", nor is "Alexa" "Alex"). A name that
    several bear means the one whose label it is, or else nobody.
    """
    text = text[:TEXT_LIMIT]
    meant = _meanings(bearers)
    keys: set[str] = set()
    rest: list[str] = []
    position = 0
    for begin, end, name in _places(text, meant.keys()):
        keys |= meant[name]
        rest.append(text[position:begin])
        position = end
    rest.append(text[position:])
    keys |= {key for name in phrases("".join(rest)) & meant.keys() if not name.isascii() for key in meant[name]}
    left = " ".join("".join(rest).split())
    return Naming(frozenset(keys), left if _LETTER.search(left) else text)


def _meanings(bearers: Iterable[Bearer]) -> dict[str, frozenset[str]]:
    """Return who is meant by each name that means somebody."""
    owners: dict[str, list[Bearer]] = {}
    for bearer in bearers:
        for name in bearer.known_as:
            owners.setdefault(name, []).append(bearer)
    meant = {}
    for name, several in owners.items():
        labelled = [bearer for bearer in several if normalise(bearer.label) == name]
        if len({bearer.keys for bearer in labelled or several}) == 1:
            meant[name] = (labelled or several)[0].keys
    return meant


def _places(text: str, names: Iterable[str]) -> Iterator[tuple[int, int, str]]:
    """Yield where names stand, from left to right: begin, end and the name; a possessive ending belongs to it."""
    known = frozenset(names)
    found = [(match.start(), match.end()) for match in _WORD.finditer(text)]
    start = 0
    while start < len(found):
        for end in range(min(start + _LONGEST, len(found)), start, -1):
            begin, stop = found[start][0], found[end - 1][1]
            if (span := _named_in(text[begin:stop], known)) is not None:
                yield begin + span[0], begin + span[1], span[2]
                start = end
                break
        else:
            start += 1


def _named_in(words: str, known: frozenset[str]) -> tuple[int, int, str] | None:
    """Return begin, end and name of a name that is all that these words say."""
    for pattern in _EDGES:
        if (match := pattern.fullmatch(words)) and (name := normalise(match["name"])) in known:
            possessive = match.end("name") + 2 * match["rest"].startswith(("'s", "\u2019s"))
            return match.start("name"), possessive, name
    return None
