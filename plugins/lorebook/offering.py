"""What is offered while a lorebook's commands are typed: names, and what a field says by now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent.commands import Choice
from plugins.lorebook.editing import BOOK_FIELDS, ENTRY_FIELDS, LoreRefused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.commands import Invocation
    from plugins.lorebook.book import Book
    from plugins.lorebook.library import Library


def number_of(target: str) -> int | None:
    """Return the number of an entry; None for what is a lorebook's name."""
    digits = target.removeprefix("#")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 19 else None  # noqa: PLR2004 - bigint


def may_see(call: Invocation, book: Book) -> bool:
    """Tell whether a lorebook may be shown: what applies in other channels only is for those who manage them."""
    return call.can_manage or call.place.admits_scope(book.scope.channel_ids)


def typed(value: Any) -> str:
    """Return a field's value as it would be typed (`plugins.lorebook.editing` reads it back)."""
    match value:
        case bool():
            return "on" if value else "off"
        case tuple():
            return ", ".join(value) or "-"
        case None:
            return "default"
        case _:
            return str(value)


class Offering:
    """Looks it up."""

    def __init__(self, library: Library) -> None:
        self._library = library

    async def names(self, call: Invocation, typed: str) -> Sequence[Choice]:
        """Offer the lorebooks that may be known here and whose names hold what was typed."""
        books = [each.book for each in await self._library.books(call.place.server.server_id)]
        words = typed.strip().casefold()
        return [Choice(book.name, book.name) for book in books if may_see(call, book) and words in book.name.casefold()]

    async def present(self, call: Invocation) -> str:
        """Return what the field that is to be changed says by now; empty where there is no such thing."""
        target, field = str(call.options.get("target", "")).strip(), str(call.options.get("field", "")).lower()
        try:
            return await self._present(call.place.server.server_id, target, field)
        except LoreRefused:
            return ""  # the command itself says what is wrong

    async def _present(self, server_id: int, target: str, field: str) -> str:
        if (number := number_of(target)) is not None:
            entry = (await self._library.entry(server_id, number)).entry
            return typed(getattr(entry, ENTRY_FIELDS[field][0])) if field in ENTRY_FIELDS else ""
        book = await self._library.book(server_id, target)
        if field == "channels":
            return ", ".join(book.scope.channel_ids) or "all"
        if field == "persona":
            lineages = await self._library.lineages(server_id)
            return next((name for name, lineage in lineages.items() if lineage == book.scope.lineage_id), "all")
        return typed(getattr(book, BOOK_FIELDS[field][0])) if field in BOOK_FIELDS else ""
