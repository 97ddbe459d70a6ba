"""What may be done with the lorebooks of a server: each change in one transaction, within the deployment's limits."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from agent.catalog import N_
from agent.text import clean, clip, one_line
from plugins.lorebook.book import MAX_NAME, MAX_PATTERNS, Book, Entry, Scope
from plugins.lorebook.editing import LoreRefused, changed_book, entry_change, split_keys
from plugins.lorebook.pattern import split_key
from plugins.lorebook.reading import read_book
from plugins.lorebook.repository import Listed, LoreRepository, Totals, lore_owner

if TYPE_CHECKING:
    from agent.core import Core
    from agent.tools import Connection
    from plugins.lorebook.settings import LorebookSettings

DEFAULT_BOOK: Final = "lore"
"""The lorebook into which entries go when nobody says which."""


_TOO_MUCH: Final = {
    "books": N_("A server has at most {limit} lorebooks; these would be {count}."),
    "entries": N_("The lorebooks of a server have at most {limit} entries; these would be {count}."),
    "characters": N_("The lorebooks of a server have at most {limit} characters; these would be {count}."),
    "patterns": N_("The lorebooks of a server have at most {limit} patterns; these would be {count}."),
}
"""By the field of `Totals`."""


class BookRefused(Exception):
    """A file holds a lorebook with faults; nothing of it was taken. `lines` says which."""

    def __init__(self, lines: tuple[str, ...]) -> None:
        self.lines = lines
        super().__init__("\n".join(lines))


@dataclass(frozen=True, slots=True)
class Imported:
    """A lorebook that was taken over."""

    book: Book
    notes: tuple[str, ...]
    replaced: bool


@dataclass(frozen=True, slots=True)
class Found:
    """An entry and its lorebook."""

    book: Book
    entry: Entry


class Library:
    """Reads and changes lorebooks."""

    def __init__(self, core: Core, repository: LoreRepository, settings: LorebookSettings) -> None:
        self._core = core
        self._repository = repository
        self._settings = settings

    async def books(self, server_id: int) -> tuple[Listed, ...]:
        """Return the lorebooks of a server, without their entries."""
        return await self._repository.books(server_id)

    async def book(self, server_id: int, name: str) -> Book:
        """Return a lorebook with its entries.

        Raises:
            LoreRefused: there is none of that name.
        """
        return _known(await self._repository.find(server_id, name=_tidy(name)), name)

    async def entry(self, server_id: int, entry_id: int) -> Found:
        """Return an entry of a server.

        Raises:
            LoreRefused: there is none with that number.
        """
        return _found(await self._repository.find(server_id, entry_id=entry_id), entry_id)

    async def import_file(
        self,
        server_id: int,
        content: bytes,
        file_name: str,
        *,
        name: str = "",
        scope: Scope | None = None,
        replacing: bool = False,
    ) -> Imported:
        """Take over the lorebook of a file; nothing is written unless all of it is sound.

        A lorebook that is replaced keeps where it applies, unless `scope` is given, and whether it is on.

        Raises:
            FileRefused: the file as a whole cannot be used.
            BookRefused: something in it is not sound.
            LoreRefused: there is a lorebook of that name, or no room.
        """
        read, report = await asyncio.to_thread(read_book, content, file_name, most_entries=self._settings.max_entries)
        if read is None:
            raise BookRefused(report.lines())
        book = replace(read, name=_tidy(name) or read.name, scope=scope or Scope())
        async with self._changing(server_id) as (conn, totals):
            old = await self._repository.find_on(conn, server_id, name=book.name)
            if old is not None:
                if not replacing:
                    raise LoreRefused(
                        N_("There is a lorebook “{name}” already: give another name, or say that it be replaced."),
                        name=old.name,
                    )
                await self._repository.remove_book(conn, old.book_id)
                book = replace(book, enabled=old.enabled, scope=scope or old.scope)
            self._check_room(totals, book, old)
            book_id = await self._repository.add_book(conn, server_id, book, self._core.clock.now())
        return Imported(replace(book, book_id=book_id), report.lines(), old is not None)

    async def add(self, server_id: int, name: str, keys: str, content: str) -> Found:
        """Add an entry; without keys (`-`) it is constant. The lorebook is made when there is none of that name.

        Raises:
            LoreRefused: a key cannot be used, or there is no room.
        """
        made = Entry(**entry_change("content", content), keys=await asyncio.to_thread(split_keys, keys))
        made = replace(made, constant=not made.keys)
        now = self._core.clock.now()
        async with self._changing(server_id) as (conn, totals):
            book = await self._repository.find_on(conn, server_id, name=_tidy(name))
            if book is None:
                book = Book(name=_tidy(name) or DEFAULT_BOOK)
                self._check_room(totals, replace(book, entries=(made,)), None)
                book = replace(book, book_id=await self._repository.add_book(conn, server_id, book, now))
            else:
                self._check_room(totals, replace(book, entries=(*book.entries, made)), book)
            made = replace(made, uid=max((entry.uid for entry in book.entries), default=-1) + 1)
            (entry_id,) = await self._repository.add_entries(conn, book.book_id, [made])
        return Found(book, replace(made, entry_id=entry_id))

    async def change_entry(self, server_id: int, entry_id: int, field: str, value: str) -> Found:
        """Change one field of an entry.

        Raises:
            LoreRefused: there is no such entry or field, the value does not fit, or there is no room.
        """
        change = await asyncio.to_thread(entry_change, field, value)
        async with self._changing(server_id) as (conn, totals):
            found = _found(await self._repository.find_on(conn, server_id, entry_id=entry_id), entry_id)
            changed = replace(found.entry, **change)
            entries = tuple(changed if entry.entry_id == entry_id else entry for entry in found.book.entries)
            self._check_room(totals, replace(found.book, entries=entries), found.book)
            await self._repository.save_entry(conn, found.book.book_id, changed, self._core.clock.now())
        return Found(found.book, changed)

    async def change_book(self, server_id: int, name: str, field: str, value: str, *, here: str) -> Book:
        """Change one field of a lorebook.

        Raises:
            LoreRefused: there is no such lorebook or field, or the value does not fit.
        """
        lineages = await self.lineages(server_id)
        async with self._changing(server_id) as (conn, _):
            book = _known(await self._repository.find_on(conn, server_id, name=_tidy(name)), name)
            changed = changed_book(book, field, value, lineages, here)
            other = await self._repository.find_on(conn, server_id, name=changed.name)
            if other is not None and other.book_id != book.book_id:
                raise LoreRefused(N_("There is a lorebook “{name}” already."), name=other.name)
            await self._repository.save_book(conn, changed, self._core.clock.now())
        return changed

    async def remove_entry(self, server_id: int, entry_id: int) -> Found:
        """Remove an entry.

        Raises:
            LoreRefused: there is none with that number.
        """
        async with self._changing(server_id) as (conn, _):
            found = _found(await self._repository.find_on(conn, server_id, entry_id=entry_id), entry_id)
            await self._repository.remove_entry(conn, entry_id)
        return found

    async def remove_book(self, server_id: int, name: str) -> Book:
        """Remove a lorebook with its entries.

        Raises:
            LoreRefused: there is none of that name.
        """
        async with self._changing(server_id) as (conn, _):
            book = _known(await self._repository.find_on(conn, server_id, name=_tidy(name)), name)
            await self._repository.remove_book(conn, book.book_id)
        return book

    async def lineages(self, server_id: int) -> Mapping[str, int]:
        """Return the lineage of each persona of a server, by name in lower case."""
        personas = await self._core.personas.for_server(server_id)
        return {persona.nickname.lower(): persona.lineage_id for persona in personas}

    @contextlib.asynccontextmanager
    async def _changing(self, server_id: int) -> AsyncIterator[tuple[Connection, Totals]]:
        """Hold the server's lorebooks for a change; afterwards what is cached of them is stale."""
        async with self._core.store.transaction() as conn:
            totals = await self._repository.lock(conn, server_id)
            yield conn, totals
            await self._repository.note_change(conn, server_id)
        self._core.revisions.announce(lore_owner(server_id))

    def _check_room(self, totals: Totals, new: Book, old: Book | None) -> None:
        """Refuse what goes beyond the deployment's limits; `old` is what `new` replaces."""
        was = old or Book(name="")
        grown = Totals(
            totals.books + (old is None),
            totals.entries + len(new.entries) - len(was.entries),
            totals.characters + new.characters - was.characters,
            totals.patterns + _patterns(new) - _patterns(was),
        )
        settings = self._settings
        limits = Totals(settings.max_books, settings.max_entries, settings.max_characters, MAX_PATTERNS)
        for kind, msgid in _TOO_MUCH.items():
            before, count, limit = (getattr(each, kind) for each in (totals, grown, limits))
            if limit < count > before:
                raise LoreRefused(msgid, limit=limit, count=count)


def _patterns(book: Book) -> int:
    return sum(split_key(key) is not None for entry in book.entries for key in (*entry.keys, *entry.secondary_keys))


def _tidy(name: str) -> str:
    """Return a name as it is kept: one line that the database takes."""
    return clip(one_line(clean(name)), MAX_NAME)


def _known(book: Book | None, name: str) -> Book:
    if book is None:
        raise LoreRefused(N_("There is no lorebook “{name}” here."), name=_tidy(name))
    return book


def _found(book: Book | None, entry_id: int) -> Found:
    entry = next((entry for entry in book.entries if entry.entry_id == entry_id), None) if book is not None else None
    if book is None or entry is None:
        raise LoreRefused(N_("There is no entry {entry_id} here."), entry_id=entry_id)
    return Found(book, entry)
