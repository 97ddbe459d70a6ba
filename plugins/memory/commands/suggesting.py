"""What the options of memory commands may be, while they are typed: only what whoever asks may see here."""

from __future__ import annotations

import unicodedata
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from cachetools import LRUCache

from agent.commands import Choice, Invocation
from agent.identity.names import normalise
from agent.privacy.audit import Act
from agent.text import clip
from plugins.memory.commands.desk import (
    Desk,
    Refused,
    Shelf,
    check_reader,
    check_writer,
    personal_shelf,
    record,
    server_shelf,
    view,
)
from plugins.memory.rendering import shown_text
from plugins.memory.rules import UNDO_KEPT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from plugins.memory.memory import Memory

MOST: Final = 25
LABEL: Final = 100
"""Characters of a choice that the shortest platform shows."""
ONCE: Final = timedelta(minutes=10)
"""Within this time one person who is offered a memory about another, letter by letter, looks at it once."""
PENDING: Final = "pending"


class Suggesting:
    """Offers memories and personas."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._looks: LRUCache[tuple[int, int], datetime] = LRUCache(10_000)

    async def server(self, call: Invocation, typed: str) -> Sequence[Choice]:
        """Offer memories of this server by id or text."""
        return [Choice(memory.memory_id, label) for memory, label in await self._of_server(call, typed)]

    async def personal(self, call: Invocation, typed: str) -> Sequence[Choice]:
        """Offer memories about whoever asks by id or text."""
        return [Choice(memory.memory_id, label) for memory, label in await self._of_person(call, typed)]

    async def server_list(self, call: Invocation, typed: str) -> Sequence[Choice]:
        """Offer memories of this server for the last place of a list with commas."""
        before, last = continued(typed)
        return listed(before, await self._of_server(call, last))

    async def personal_list(self, call: Invocation, typed: str) -> Sequence[Choice]:
        """Offer memories about whoever asks for the last place of a list with commas."""
        before, last = continued(typed)
        return listed(before, await self._of_person(call, last))

    async def scoped(self, call: Invocation, typed: str) -> Sequence[Choice]:
        """Offer memories of this server, and the word for those that wait for their channels."""
        word = [Choice(PENDING, PENDING)] if PENDING.startswith(typed.strip().casefold()) else []
        found = await self._of_server(call, typed)
        return [*word, *(Choice(str(memory.memory_id), label) for memory, label in found)][:MOST]

    async def gone(self, call: Invocation, typed: str) -> Sequence[Choice]:
        """Offer what was removed within a day and may be seen by whoever asks."""
        try:
            if call.command[0] == "personal":
                shelf = personal_shelf(call)
            else:
                await check_writer(self._desk, call)
                shelf = server_shelf(call)
            rows = await self._desk.undo.recent(shelf.scope, shelf.owner_id, call.now - UNDO_KEPT)
            found = await self._found(call, shelf, rows, typed)
        except Refused:
            return ()
        return [Choice(memory.memory_id, label) for memory, label in found]

    async def personas(self, call: Invocation, typed: str) -> Sequence[Choice]:
        """Offer the personas of this server by name."""
        words = normalise(typed)
        personas = await self._desk.personas.for_server(call.place.server.server_id)
        names = [persona.nickname for persona in personas if words in normalise(persona.nickname)]
        return [Choice(name, name) for name in names[:MOST]]

    async def _of_server(self, call: Invocation, typed: str) -> Sequence[tuple[Memory, str]]:
        try:
            await check_reader(self._desk, call)
            return await self._kept(call, server_shelf(call), typed)
        except Refused:
            return ()

    async def _of_person(self, call: Invocation, typed: str) -> Sequence[tuple[Memory, str]]:
        try:
            return await self._kept(call, personal_shelf(call), typed)
        except Refused:
            return ()

    async def _kept(self, call: Invocation, shelf: Shelf, typed: str) -> Sequence[tuple[Memory, str]]:
        server, users = (None, (shelf.owner_id,)) if shelf.is_personal else (shelf.owner_id, ())
        rows = await self._desk.writing.repository.block(server, users, shelf.lineage_id)
        return await self._found(call, shelf, rows, typed)

    async def _found(
        self, call: Invocation, shelf: Shelf, rows: Sequence[Memory], typed: str
    ) -> Sequence[tuple[Memory, str]]:
        seen = await view(self._desk, call, shelf, rows)
        texts = [(memory, shown_text(memory, seen.names)) for memory in seen.memories]
        found = matching(texts, typed)
        await self._record(call, [memory for memory, _ in found])
        return [(memory, clip(f"#{memory.memory_id} {text}", LABEL)) for memory, text in found]

    async def _record(self, call: Invocation, memories: Sequence[Memory]) -> None:
        """Write down who is offered what is about others, once for all letters that they type."""
        reader = call.account.account_id
        new = [each for each in memories if self._is_new((reader, each.memory_id), call.now)]
        await record(self._desk, call, Act.READ, new)
        for memory in new:
            self._looks[reader, memory.memory_id] = call.now

    def _is_new(self, look: tuple[int, int], now: datetime) -> bool:
        last = self._looks.get(look)
        return last is None or now - last > ONCE


def continued(typed: str) -> tuple[str, str]:
    """Return a list with commas in two: what stands already, and its last place that is being typed."""
    before, comma, last = typed.rpartition(",")
    return f"{before}{comma}", last


def listed(before: str, found: Sequence[tuple[Memory, str]]) -> Sequence[Choice]:
    """Return the lists that each of some memories would end; those that stand there already are left out."""
    taken = {word.strip() for word in before.split(",")}
    return [
        Choice(f"{before}{memory.memory_id}", f"{before} {label}".strip())
        for memory, label in found
        if str(memory.memory_id) not in taken
    ]


def matching(texts: Sequence[tuple[Memory, str]], typed: str) -> Sequence[tuple[Memory, str]]:
    """Return the memories that fit what was typed, at most 25: by the beginning of the id first, then by the text.

    Of those that fit alike, the newest come first.
    """
    wanted = typed.strip().removeprefix("#")
    words = _folded(wanted)
    newest = sorted(texts, key=lambda each: -each[0].memory_id)
    by_id = [each for each in newest if str(each[0].memory_id).startswith(wanted)]
    by_text = [each for each in newest if each not in by_id and words in _folded(each[1])]
    return [*by_id, *by_text][:MOST]


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
