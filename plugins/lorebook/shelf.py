"""The lorebooks of a server, ready to be searched, and held for as long as they do not change."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from agent.cache import RevisionedCache
from plugins.lorebook.book import Book
from plugins.lorebook.repository import lore_owner
from plugins.lorebook.rules import Defaults, Ready, make_ready

if TYPE_CHECKING:
    from agent.clock import Clock
    from agent.places import Place
    from plugins.lorebook.repository import LoreRepository

_CHARACTERS: Final = 50_000_000
"""Of the lorebooks that one process holds."""
_SECONDS: Final = 3600.0
_OVERHEAD: Final = 1_000


@dataclass(frozen=True, slots=True)
class Shelf:
    """What is on, worked out for the search."""

    books: tuple[Book, ...] = ()
    entries: tuple[Ready, ...] = ()
    strikes: Counter[str] = field(default_factory=Counter)
    """How often each pattern was late; see `PatternSearch`."""

    @property
    def weight(self) -> int:
        """Return about how much memory it takes, in characters."""
        return _OVERHEAD + sum(book.characters for book in self.books)

    @property
    def depth(self) -> int:
        """Return how many messages are read at most."""
        return max((entry.depth for entry in self.entries), default=0)

    def admitted(self, place: Place, lineage_id: int) -> tuple[Ready, ...]:
        """Return the entries of the books that apply in a place to the personas of a lineage."""
        apply = {book.book_id for book in self.books if applies(book, place, lineage_id)}
        if len(apply) == len(self.books):
            return self.entries
        return tuple(entry for entry in self.entries if entry.book_id in apply)

    def budgets(self) -> dict[int, int]:
        """Return the budgets of the books that have one."""
        return {book.book_id: book.token_budget for book in self.books if book.token_budget is not None}


def applies(book: Book, place: Place, lineage_id: int) -> bool:
    """Tell whether a book applies in a place to the personas of a lineage."""
    return book.scope.lineage_id in {None, lineage_id} and place.admits_scope(book.scope.channel_ids)


def make_shelf(books: Iterable[Book], defaults: Defaults) -> Shelf:
    """Work out a server's lorebooks. Compiling many patterns takes its time: call it in a thread."""
    books = tuple(books)
    return Shelf(books, tuple(ready for book in books for ready in make_ready(book, defaults)))


class Shelves:
    """The shelves of the servers that this process answers in."""

    def __init__(self, repository: LoreRepository, clock: Clock, defaults: Defaults) -> None:
        self._repository = repository
        self._defaults = defaults
        self._cache: RevisionedCache[Shelf] = RevisionedCache(
            size=_CHARACTERS, seconds=_SECONDS, clock=clock, weigh=lambda shelf: shelf.weight
        )

    async def of(self, server_id: int) -> Shelf:
        """Return the shelf of a server as it is now."""
        revision = await self._repository.revision(server_id)
        if not revision:
            return Shelf()

        async def load() -> Shelf:
            books = await self._repository.in_use(server_id)
            return await asyncio.to_thread(make_shelf, books, self._defaults)

        return await self._cache.get(lore_owner(server_id), revision, load)

    def forget(self, owner: str) -> None:
        """Let go of what is held of an owner whose state has changed."""
        self._cache.evict(owner)
