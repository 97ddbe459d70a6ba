"""Which entries join the prompt of a message: pure functions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.turn.budget import estimate_tokens
from plugins.lorebook.book import Logic
from plugins.lorebook.keys import Pattern, Words, exact, find_words, fold, make_key, words_of
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
    """What is read: the messages up to a depth, and what active entries say. What was looked for once is remembered."""

    def __init__(self, messages: Sequence[str], search: Search) -> None:
        self._messages = messages
        self._search = search
        self._echo: list[str] = []
        self._words = set(_all_words("\n".join(messages)))
        self._made: dict[tuple[bool, int, bool | None], str] = {}
        self._found: dict[tuple[bool, int, bool, bool, str], bool] = {}

    def add(self, echo: Iterable[str]) -> None:
        """Read what further entries say."""
        fresh = list(echo)
        self._echo += fresh
        self._words |= _all_words("\n".join(fresh))
        self._made = {key: text for key, text in self._made.items() if not key[0]}
        self._found = {key: found for key, found in self._found.items() if not key[0]}

    def hold(self, key: Key, ready: Ready) -> bool:
        """Tell whether a key stands where its entry looks for it."""
        if isinstance(key, Words) and ready.whole_words and not key.words <= self._words:
            return False  # so it is for most keys
        with_echo = bool(self._echo) and not ready.entry.exclude_recursion
        where = (with_echo, ready.depth, ready.whole_words, ready.case_sensitive, key.source)
        found = self._found.get(where)
        if found is None:
            if isinstance(key, Words):
                text = self._read(with_echo, ready.depth, ready.case_sensitive)
                found = find_words(key.text, text, whole=ready.whole_words)
            else:
                found = self._search(key, self._read(with_echo, ready.depth, None))
            self._found[where] = found
        return found

    def _read(self, with_echo: bool, depth: int, case_sensitive: bool | None) -> str:  # noqa: FBT001 - a text's key
        """Return the text in its exact or folded form; None: as it was written."""
        key = (with_echo, depth, case_sensitive)
        text = self._made.get(key)
        if text is None:
            text = "\n".join([*reversed(self._messages[:depth]), *(self._echo if with_echo else ())])
            if case_sensitive is not None:
                text = exact(text) if case_sensitive else fold(text)
            self._made[key] = text
        return text


def _all_words(text: str) -> frozenset[str]:
    return words_of(exact(text)) | words_of(fold(text))


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


def _matched(ready: Ready, texts: _Texts) -> str | None:
    """Return the key for which an entry is activated; None when it is not."""
    key = next((key for key in ready.keys if texts.hold(key, ready)), None)
    if key is None:
        return None
    said = sum(texts.hold(key, ready) for key in ready.secondary)
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
    texts = _Texts(messages[: max((ready.depth for ready in entries), default=0)], search)
    budget = _Budget(limits.tokens, dict(budgets or {}))
    drawn = [ready for ready in entries if _drawn(ready, chance)]
    waiting = [ready for ready in drawn if not ready.entry.constant]
    kept: list[Hit] = []
    left_out: list[Hit] = []
    fresh = [Hit(ready) for ready in drawn if ready.entry.constant]
    for step in range(limits.recursion + 1):
        found = [(ready, _matched(ready, texts)) for ready in waiting if _is_looked_at(ready, step)]
        fresh += [Hit(ready, key, step) for ready, key in found if key is not None]
        active = {id(hit.ready) for hit in fresh}
        waiting = [ready for ready in waiting if id(ready) not in active]
        fresh, over = budget.take(fresh)
        kept += fresh
        left_out += over
        echo = [hit.entry.content for hit in fresh if hit.ready.echoes]
        delayed = step == 0 and any(ready.entry.delay_until_recursion for ready in waiting)
        if budget.is_spent or not (echo or delayed):
            break
        texts.add(echo)
        fresh = []
    return Activation(in_order(kept), in_order(left_out))


def _drawn(ready: Ready, chance: Chance) -> bool:
    probability = ready.entry.probability
    return probability >= 100 or chance(ready.entry) < probability  # noqa: PLR2004 - per cent


def _is_looked_at(ready: Ready, step: int) -> bool:
    """Tell whether this step may find something that the ones before it did not."""
    first = 1 if ready.entry.delay_until_recursion else 0
    return step == first or (step > first and not ready.entry.exclude_recursion)


@dataclass(slots=True)
class _Budget:
    """What is left of the tokens; what does not fit is not active, and so activates nothing."""

    room: int
    room_of_book: dict[int, int]
    is_spent: bool = False

    def take(self, hits: Iterable[Hit]) -> tuple[list[Hit], list[Hit]]:
        """Take constant entries first, then those of higher order, until one does not fit; return the others too."""
        kept: list[Hit] = []
        left_out: list[Hit] = []
        for hit in sorted(hits, key=_rank):
            book, cost = hit.ready.book_id, hit.ready.cost
            if cost > self.room_of_book.get(book, cost):
                self.room_of_book[book] = 0
            elif self.is_spent or cost > self.room:
                self.is_spent = True
            else:
                kept.append(hit)
                self.room -= cost
                if book in self.room_of_book:
                    self.room_of_book[book] -= cost
                continue
            left_out.append(hit)
        return kept, left_out


def _rank(hit: Hit) -> tuple[bool, int, int, int]:
    return (not hit.entry.constant, -hit.entry.order, hit.ready.book_id, hit.entry.uid)


def in_order(hits: Collection[Hit]) -> tuple[Hit, ...]:
    """Sort by insertion order; of one order by book, then by the number in it."""
    return tuple(sorted(hits, key=lambda hit: (hit.entry.order, hit.ready.book_id, hit.entry.uid)))
