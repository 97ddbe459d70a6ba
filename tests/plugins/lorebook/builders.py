"""Entries and books that tests begin from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from plugins.lorebook.book import Book, Entry
from plugins.lorebook.keys import PatternSearch
from plugins.lorebook.rules import Activation, Defaults, Limits, Ready, activate, make_ready

DEFAULTS = Defaults()
LIMITS = Limits()


def an_entry(uid: int, *keys: str, **values: Any) -> Entry:
    return Entry(**{"content": f"lore {uid}", "keys": keys, "uid": uid, "entry_id": uid, **values})


def a_book(*entries: Entry, **values: Any) -> Book:
    return Book(**{"name": "main", "entries": entries, "book_id": 1, **values})


def ready(*entries: Entry, **values: Any) -> tuple[Ready, ...]:
    return make_ready(a_book(*entries, **values), DEFAULTS)


class Stopped:
    """A clock that moves by `step` seconds each time it is read."""

    def __init__(self, step: float = 0.0) -> None:
        self.now = 0.0
        self._step = step

    def __call__(self) -> float:
        self.now += self._step
        return self.now


def a_search(each: float = 0.2, total: float = 2.0, strikes: Counter[str] | None = None) -> PatternSearch:
    return PatternSearch(Counter() if strikes is None else strikes, each, total, Stopped())


def scan(entries: Sequence[Ready], *messages: str, limits: Limits = LIMITS, chance: float = 50.0) -> Activation:
    return activate(entries, messages, search=a_search(), chance=lambda _: chance, limits=limits)


def uids(activation: Activation) -> list[int]:
    return [hit.entry.uid for hit in activation.hits]
