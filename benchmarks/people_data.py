"""Servers full of people with names from public lists, and what somebody might write to mean one of them."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from agent.contracts.people import Account, PrivacyLevel
from agent.identity.directory import Entry, Name
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.identity.names import NameSource, normalise

FILE: Final = Path(__file__).parent / "data" / "people" / "names.json"
HOMOGLYPHS: Final = str.maketrans(
    "aeopcxyiABEHKMOPTX",
    "\u0430\u0435\u043e\u0440\u0441\u0445\u0443\u0456\u0410\u0412\u0415\u041d\u041a\u041c\u041e\u0420\u0422\u0425",
)
"""Latin letters and Cyrillic ones that look the same."""
NEIGHBOURS: Final = {"a": "s", "e": "r", "i": "o", "n": "m", "r": "t", "s": "d", "t": "r", "l": "k", "o": "p", "m": "n"}
HIDDEN, GLOBAL, NICKNAMED, TWO_SLIPS = 0.05, 0.5, 0.3, 0.3
"""How many are hidden, have a global name or a saved nickname, and are misspelled twice where the name is long."""
SHORTEST, LONG = 5, 9
"""Characters of a name that is misspelled, once and twice."""


class Kind(StrEnum):
    """How somebody is named."""

    EXACT = "exact"
    NICKNAME = "nickname"
    MISSPELLED = "misspelled"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Query:
    """What is written, and who is meant."""

    kind: Kind
    name: str
    meant: int | None
    """The account; None for somebody who is no member."""


@dataclass(frozen=True, slots=True)
class Town:
    """A server."""

    entries: tuple[Entry, ...]
    rivals: dict[int, frozenset[int]]
    """By account the others who were given the same name on purpose, or one that looks like it."""
    queries: tuple[Query, ...]


def town(seed: int, size: int, rounds: int) -> Town:
    """Return a server of so many people, and `rounds` queries of each kind but twice as many of the present ones."""
    rng = random.Random(seed)  # noqa: S311  # reproducible, and protects nothing
    lists = json.loads(FILE.read_text(encoding="utf-8"))["names"]
    local = rng.sample(sorted(lists), 3)
    full = [
        (rng.choice(lists[each]["first"]), rng.choice(lists[each]["last"])) for each in rng.choices(local, k=4 * size)
    ]
    entries, rivals = _people(rng, full[:size])
    known = {name.normalised for entry in entries for name in entry.names}
    absent = (_shown(rng, *each) for each in full[size:])
    queries = [
        *_queries(rng, entries, rounds, known),
        *(Query(Kind.ABSENT, name, None) for name in _first(rounds, absent, known)),
    ]
    rng.shuffle(queries)
    return Town(tuple(entries), rivals, tuple(queries))


def _first(number: int, names: Iterator[str], known: set[str]) -> Iterator[str]:
    """Yield so many names that nobody bears."""
    for name in names:
        if number and normalise(name) not in known:
            number -= 1
            yield name


def _shown(rng: random.Random, first: str, last: str) -> str:
    """Return a name as people show it."""
    return rng.choice(
        (first, f"{first} {last}", f"{first} {last[0]}.", f"{first}{rng.randint(1, 99)}", f"{first}_{last}")
    )


def _people(rng: random.Random, full: list[tuple[str, str]]) -> tuple[list[Entry], dict[int, frozenset[int]]]:
    shown = [_shown(rng, *each) for each in full]
    groups: list[set[int]] = []
    for number in range(len(full) // 20):  # a tenth are twins: of one name, or of one look
        one, other = 2 * number, 2 * number + 1
        twin = shown[one].translate(HOMOGLYPHS)
        shown[other] = twin if number % 2 else rng.choice((shown[one], shown[one].upper(), f"\u200b{shown[one]}"))
        groups.append({one + 1, other + 1})
    entries = [_entry(rng, number, *full[number - 1], shown[number - 1]) for number in range(1, len(full) + 1)]
    rivals = {number: frozenset(group - {number}) for group in groups for number in group}
    return entries, rivals


def _entry(rng: random.Random, number: int, first: str, last: str, shown: str) -> Entry:
    username = f"{normalise(first)}.{normalise(last)[:3]}{number}".replace(" ", "")
    level = PrivacyLevel.FULL if rng.random() < HIDDEN else PrivacyLevel.NONE
    key = ParticipantKey(ParticipantKind.DISCORD_USER, str(10**17 + number))
    names = [Name.of(NameSource.GUILD, shown), Name.of(NameSource.USERNAME, username)]
    if rng.random() < GLOBAL:
        names.append(Name.of(NameSource.GLOBAL, f"{first} {last}"))
    if len(first) >= SHORTEST and rng.random() < NICKNAMED:
        names.append(
            Name.of(NameSource.NICKNAME, rng.choice((first[:3], first[:4], first[-4:], f"{first[:3]}i")).title())
        )
    return Entry(Account(number, number, "discord", key, shown, username, level), tuple(names))


def _queries(rng: random.Random, entries: list[Entry], rounds: int, known: set[str]) -> Iterator[Query]:
    """Yield what means somebody who is there: a quarter of it by a saved nickname, and half of it misspelled."""
    nicknamed = [(entry, name) for entry in entries for name in entry.names if name.source is NameSource.NICKNAME]
    for entry, name in rng.choices(nicknamed, k=rounds // 2):
        yield Query(Kind.NICKNAME, _cased(rng, name.value), entry.account.account_id)
    for entry in rng.choices(entries, k=rounds // 2):
        yield Query(Kind.EXACT, _cased(rng, rng.choice(entry.names).value), entry.account.account_id)
    shown = [entry for entry in entries if entry.account.privacy is not PrivacyLevel.FULL]
    left = rounds
    while left:
        entry = rng.choice(shown)
        slipped = misspelled(rng, rng.choice(entry.names).value)
        # A slip that makes it somebody's name is no misspelling any more.
        if slipped and normalise(slipped) not in known:
            left -= 1
            yield Query(Kind.MISSPELLED, slipped, entry.account.account_id)


def _cased(rng: random.Random, name: str) -> str:
    return rng.choice((name, name, name.lower(), f"@{name}", f" {name} "))


def misspelled(rng: random.Random, name: str) -> str:
    """Return a name with a slip, a long one sometimes with two; empty for a short one."""
    if len(normalise(name)) < SHORTEST:
        return ""
    once = _slip(rng, name)
    return _slip(rng, once) if len(normalise(name)) >= LONG and rng.random() < TWO_SLIPS else once


def _slip(rng: random.Random, name: str) -> str:
    """Swap two letters, leave one out, double it, or replace it."""
    place = rng.randrange(1, len(name) - 1)
    before, letter, after = name[:place], name[place], name[place + 1 :]
    return rng.choice(
        (
            f"{before}{after[0]}{letter}{after[1:]}",
            before + after,
            f"{before}{letter}{letter}{after}",
            f"{before}{NEIGHBOURS.get(letter, 'e')}{after}",
        )
    )


def shares(queries: tuple[Query, ...]) -> dict[str, int]:
    """Return how many queries there are of each kind."""
    return dict(Counter(query.kind.value for query in queries))
