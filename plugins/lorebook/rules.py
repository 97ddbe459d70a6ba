"""Which entries join the prompt of a message: pure functions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.turn.budget import estimate_tokens
from plugins.lorebook.book import Logic
from plugins.lorebook.keys import Pattern, Words, exact, find_words, fold, make_key
from plugins.lorebook.pattern import PatternRefused

if TYPE_CHECKING:
    from plugins.lorebook.book import Book, Entry
    from plugins.lorebook.keys import Key

type Chance = Callable[["Entry"], float]
"""Returns a number from 0 to below 100 for an entry, the same one for the same message."""
type Search = Callable[[Pattern, str], bool]


@dataclass(frozen=True, slots=True)
class Defaults:
    """What holds where neither entry nor book says otherwise."""

    scan_depth: int = 4
    whole_words: bool = True
    case_sensitive: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """How far one scan goes."""

    recursion: int = 3
    tokens: int = 2000


@dataclass(frozen=True, slots=True)
class Ready:
    """An entry with everything worked out that does not depend on the message."""

    entry: Entry
    book_id: int
    book_name: str
    keys: tuple[Key, ...]
    secondary: tuple[Key, ...]
    depth: int
    whole_words: bool
    case_sensitive: bool
    echoes: bool
    """Whether what it says may activate others."""
    cost: int
    """Tokens."""


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry that is active, and why."""

    ready: Ready
    key: str = ""
    """The key that was found; empty for a constant entry."""
    step: int = 0
    """0: found in the messages; n: in what entries of step n - 1 say."""

    @property
    def entry(self) -> Entry:
        """Return the entry."""
        return self.ready.entry


@dataclass(frozen=True, slots=True)
class Activation:
    """What joins the prompt, in the order of insertion, and what was left out for the budget."""

    hits: tuple[Hit, ...] = ()
    left_out: tuple[Hit, ...] = ()


def make_ready(book: Book, defaults: Defaults) -> tuple[Ready, ...]:
    """Work out the entries of a book; those that can never be active are left out."""
    made: list[Ready] = []
    for entry in book.entries:
        case = defaults.case_sensitive if entry.case_sensitive is None else entry.case_sensitive
        keys = tuple(_usable(entry.keys, case))
        if not entry.enabled or not entry.content.strip() or not (entry.constant or keys):
            continue
        depth = next(d for d in (entry.scan_depth, book.scan_depth, defaults.scan_depth) if d is not None)
        made.append(
            Ready(
                entry=entry,
                book_id=book.book_id,
                book_name=book.name,
                keys=keys,
                secondary=tuple(_usable(entry.secondary_keys, case)) if entry.selective else (),
                depth=depth,
                whole_words=defaults.whole_words if entry.whole_words is None else entry.whole_words,
                case_sensitive=case,
                echoes=not entry.prevent_recursion and book.recursive is not False,
                cost=estimate_tokens(entry.content) + 1,
            )
        )
    return tuple(made)


def _usable(keys: Iterable[str], case_sensitive: bool) -> Iterable[Key]:  # noqa: FBT001 - one of two forms
    for key in keys:
        try:
            yield make_key(key, case_sensitive=case_sensitive)
        except PatternRefused:  # refused when it was written; another release of `regex` may know less
            continue


class _Texts:
    """What is read: the messages up to a depth, and what active entries say."""

    def __init__(self, messages: Sequence[str]) -> None:
        self._messages = messages
        self._echo: list[str] = []
        self._made: dict[tuple[int, bool, bool | None], str] = {}

    def add(self, echo: Iterable[str]) -> None:
        self._echo += echo
        self._made = {key: text for key, text in self._made.items() if not key[1]}

    def read(self, depth: int, *, with_echo: bool, case_sensitive: bool | None) -> str:
        """Return the text in its exact or folded form; None: as it was written."""
        key = (depth, with_echo, case_sensitive)
        text = self._made.get(key)
        if text is None:
            parts = [*reversed(self._messages[:depth]), *(self._echo if with_echo else ())]
            text = "\n".join(parts)
            if case_sensitive is not None:
                text = exact(text) if case_sensitive else fold(text)
            self._made[key] = text
        return text


def _found(ready: Ready, keys: Iterable[Key], texts: _Texts, search: Search) -> Iterable[Key]:
    """Yield those of an entry's keys that were said."""
    with_echo = not ready.entry.exclude_recursion
    for key in keys:
        if isinstance(key, Words):
            text = texts.read(ready.depth, with_echo=with_echo, case_sensitive=ready.case_sensitive)
            if find_words(key.text, text, whole=ready.whole_words):
                yield key
        elif search(key, texts.read(ready.depth, with_echo=with_echo, case_sensitive=None)):
            yield key


def holds(logic: Logic, said: int, of: int) -> bool:
    """Tell whether `said` of an entry's `of` secondary keys are what its logic asks; without any it always holds."""
    if not of:
        return True
    match logic:
        case Logic.AND_ANY:
            return said > 0
        case Logic.AND_ALL:
            return said == of
        case Logic.NOT_ANY:
            return said == 0
        case Logic.NOT_ALL:
            return said < of


def _matched(ready: Ready, texts: _Texts, search: Search) -> str | None:
    """Return the key for which an entry is activated; None when it is not."""
    key = next(iter(_found(ready, ready.keys, texts, search)), None)
    if key is None:
        return None
    said = sum(1 for _ in _found(ready, ready.secondary, texts, search))
    return key.source if holds(ready.entry.logic, said, len(ready.secondary)) else None


def activate(
    entries: Sequence[Ready],
    messages: Sequence[str],
    *,
    search: Search,
    chance: Chance,
    limits: Limits,
    budgets: Mapping[int, int] | None = None,
) -> Activation:
    """Return the entries that join the prompt.

    Args:
        entries: Those of the books that apply.
        messages: What was said, the present message first.
        search: Looks for a pattern in a text.
        chance: Draws for entries that join only sometimes.
        limits: Of recursion and tokens.
        budgets: Tokens of single books, by id.

    """
    texts = _Texts(messages)
    hits = [Hit(ready) for ready in entries if ready.entry.constant and _drawn(ready, chance)]
    waiting = [ready for ready in entries if not ready.entry.constant and _drawn(ready, chance)]
    fresh: list[Hit] = list(hits)
    for step in range(limits.recursion + 1):
        if step:
            echo = [hit.entry.content for hit in fresh if hit.ready.echoes]
            delayed = step == 1 and any(ready.entry.delay_until_recursion for ready in waiting)
            if not echo and not delayed:
                break
            texts.add(echo)
            fresh = []
        found = [(ready, _matched(ready, texts, search)) for ready in waiting if _is_looked_at(ready, step)]
        fresh += [Hit(ready, key, step) for ready, key in found if key is not None]
        hits += [hit for hit in fresh if not hit.entry.constant]
        active = {id(hit.ready) for hit in fresh}
        waiting = [ready for ready in waiting if id(ready) not in active]
    return _within_budget(hits, limits.tokens, budgets or {})


def _drawn(ready: Ready, chance: Chance) -> bool:
    probability = ready.entry.probability
    return probability >= 100 or chance(ready.entry) < probability  # noqa: PLR2004 - per cent


def _is_looked_at(ready: Ready, step: int) -> bool:
    """Tell whether this step may find something that the ones before it did not."""
    first = 1 if ready.entry.delay_until_recursion else 0
    return step == first or (step > first and not ready.entry.exclude_recursion)


def _within_budget(hits: Iterable[Hit], tokens: int, budgets: Mapping[int, int]) -> Activation:
    """Take constant entries first, then those of higher order, until one does not fit."""
    by_rank = sorted(hits, key=lambda hit: (not hit.entry.constant, -hit.entry.order, hit.ready.book_id, hit.entry.uid))
    kept: list[Hit] = []
    left_out: list[Hit] = []
    room = tokens
    room_of_book = dict(budgets)
    for hit in by_rank:
        book, cost = hit.ready.book_id, hit.ready.cost
        if cost > room_of_book.get(book, cost):
            room_of_book[book] = 0
        elif cost > room:
            room = 0
        else:
            kept.append(hit)
            room -= cost
            if book in room_of_book:
                room_of_book[book] -= cost
            continue
        left_out.append(hit)
    return Activation(in_order(kept), in_order(left_out))


def in_order(hits: Collection[Hit]) -> tuple[Hit, ...]:
    """Sort by insertion order; of one order by book, then by the number in it."""
    return tuple(sorted(hits, key=lambda hit: (hit.entry.order, hit.ready.book_id, hit.entry.uid)))
