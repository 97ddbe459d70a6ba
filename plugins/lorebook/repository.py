"""All SQL of the lorebook plugin: rows in, frozen values out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from agent.store.queries import load_queries
from agent.store.revisions import bump, read
from plugins.lorebook.book import Book, Entry, Logic, Scope

if TYPE_CHECKING:
    from agent.store.pool import Store
    from agent.tools import Connection

QUERIES = load_queries(__name__)


def lore_owner(server_id: int) -> str:
    """Return the key of a server's lorebooks in `owner_revisions`: memories change far more often than they do."""
    return f"lorebooks:{server_id}"


@dataclass(frozen=True, slots=True)
class Listed:
    """A lorebook without its entries, and how many they are."""

    book: Book
    entries: int


@dataclass(frozen=True, slots=True)
class Totals:
    """How much a server has."""

    books: int
    entries: int
    characters: int
    patterns: int


class LoreRepository:
    """Reads and writes lorebooks. What takes `conn` belongs into the caller's transaction, after `lock`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def revision(self, server_id: int) -> int:
        """Return the revision of a server's lorebooks; 0 while there never was one."""
        owner = lore_owner(server_id)
        async with self._store.connection() as conn:
            return (await read(conn, [owner]))[owner]

    async def in_use(self, server_id: int) -> tuple[Book, ...]:
        """Return the lorebooks of a server that are switched on, with their entries."""
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["enabled_books"], server_id)
            books = [_book(row) for row in rows]
            entries = await conn.fetch(QUERIES["entries"], [book.book_id for book in books])
        by_book: dict[int, list[Entry]] = {book.book_id: [] for book in books}
        for row in entries:
            # Between the two reads a book may have been removed and another one added; the next turn sees it.
            if row["lorebook_id"] in by_book:
                by_book[row["lorebook_id"]].append(_entry(row))
        return tuple(replace(book, entries=tuple(by_book[book.book_id])) for book in books)

    async def books(self, server_id: int) -> tuple[Listed, ...]:
        """Return the lorebooks of a server by name."""
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["books"], server_id)
        return tuple(Listed(_book(row), row["entries"]) for row in rows)

    async def find(self, server_id: int, *, name: str = "", entry_id: int | None = None) -> Book | None:
        """Return a lorebook of a server with its entries, by its name or one of its entries."""
        async with self._store.connection() as conn:
            return await self.find_on(conn, server_id, name=name, entry_id=entry_id)

    async def find_on(
        self, conn: Connection, server_id: int, *, name: str = "", entry_id: int | None = None
    ) -> Book | None:
        """Do the same within a transaction."""
        if entry_id is None:
            row = await conn.fetchrow(QUERIES["book_by_name"], server_id, name)
        else:
            row = await conn.fetchrow(QUERIES["book_of_entry"], server_id, entry_id)
        if row is None:
            return None
        entries = await conn.fetch(QUERIES["entries"], [row["lorebook_id"]])
        return replace(_book(row), entries=tuple(map(_entry, entries)))

    async def lock(self, conn: Connection, server_id: int) -> Totals:
        """Hold the server's lorebooks until the transaction ends, and return how much there is."""
        await conn.execute(QUERIES["lock_server"], server_id)
        row = await conn.fetchrow(QUERIES["totals"], server_id)
        assert row is not None  # noqa: S101  # an aggregate always gives one row
        return Totals(row["books"], row["entries"], row["characters"], row["patterns"])

    async def add_book(self, conn: Connection, server_id: int, book: Book, now: datetime) -> int:
        """Add a lorebook with its entries; return its id."""
        book_id: int = await conn.fetchval(QUERIES["add_book"], server_id, *_columns(book), now)
        await self.add_entries(conn, book_id, book.entries)
        return book_id

    async def add_entries(self, conn: Connection, book_id: int, entries: Sequence[Entry]) -> tuple[int, ...]:
        """Add entries to a lorebook; return their ids by uid."""
        rows = await conn.fetch(QUERIES["add_entries"], book_id, [_as_json(entry) for entry in entries])
        return tuple(row["entry_id"] for row in rows)

    async def save_book(self, conn: Connection, book: Book, now: datetime) -> None:
        """Write what is changed of a lorebook itself."""
        await conn.execute(QUERIES["save_book"], book.book_id, *_columns(book), now)

    async def save_entry(self, conn: Connection, book_id: int, entry: Entry, now: datetime) -> None:
        """Write a changed entry."""
        await conn.execute(QUERIES["save_entry"], entry.entry_id, _as_json(entry))
        await conn.execute(QUERIES["touch_book"], book_id, now)

    async def remove_book(self, conn: Connection, book_id: int) -> None:
        """Remove a lorebook with its entries."""
        await conn.execute(QUERIES["remove_book"], book_id)

    async def remove_entry(self, conn: Connection, entry_id: int) -> None:
        """Remove an entry."""
        await conn.execute(QUERIES["remove_entry"], entry_id)

    async def note_change(self, conn: Connection, server_id: int) -> None:
        """Raise the revision, at the end of a transaction that changed something."""
        await bump(conn, [lore_owner(server_id)])

    async def count_lineage(self, server_id: int, lineage_id: int) -> int:
        """Return how many lorebooks of a server only the personas of a lineage know."""
        async with self._store.connection() as conn:
            count: int = await conn.fetchval(QUERIES["count_lineage"], server_id, lineage_id)
        return count

    async def counts(self) -> tuple[int, int]:
        """Return how many lorebooks and entries there are, in all servers."""
        async with self._store.connection() as conn:
            row = await conn.fetchrow(QUERIES["counts"])
        return (0, 0) if row is None else (row["books"], row["entries"])


def _book(row: Any) -> Book:
    return Book(
        name=row["name"],
        description=row["description"],
        enabled=row["enabled"],
        scope=Scope(row["persona_lineage_id"], tuple(row["channel_ids"])),
        scan_depth=row["scan_depth"],
        token_budget=row["token_budget"],
        recursive=row["recursive"],
        extra=row["extra"],
        book_id=row["lorebook_id"],
    )


def _columns(book: Book) -> tuple[Any, ...]:
    return (
        book.name,
        book.description,
        book.enabled,
        book.scope.lineage_id,
        list(book.scope.channel_ids),
        book.scan_depth,
        book.token_budget,
        book.recursive,
        dict(book.extra),
    )


def _entry(row: Any) -> Entry:
    return Entry(
        content=row["content"],
        keys=tuple(row["keys"]),
        secondary_keys=tuple(row["secondary_keys"]),
        logic=Logic(row["logic"]),
        selective=row["selective"],
        constant=row["constant"],
        enabled=row["enabled"],
        order=row["insertion_order"],
        scan_depth=row["scan_depth"],
        whole_words=row["whole_words"],
        case_sensitive=row["case_sensitive"],
        probability=row["probability"],
        exclude_recursion=row["exclude_recursion"],
        prevent_recursion=row["prevent_recursion"],
        delay_until_recursion=row["delay_until_recursion"],
        name=row["name"],
        uid=row["uid"],
        extra=row["extra"],
        entry_id=row["entry_id"],
    )


def _as_json(entry: Entry) -> dict[str, Any]:
    return {
        "content": entry.content,
        "keys": list(entry.keys),
        "secondary_keys": list(entry.secondary_keys),
        "logic": entry.logic.value,
        "selective": entry.selective,
        "constant": entry.constant,
        "enabled": entry.enabled,
        "insertion_order": entry.order,
        "scan_depth": entry.scan_depth,
        "whole_words": entry.whole_words,
        "case_sensitive": entry.case_sensitive,
        "probability": entry.probability,
        "exclude_recursion": entry.exclude_recursion,
        "prevent_recursion": entry.prevent_recursion,
        "delay_until_recursion": entry.delay_until_recursion,
        "name": entry.name,
        "uid": entry.uid,
        "extra": dict(entry.extra),
    }
