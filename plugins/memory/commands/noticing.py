"""`notice`: the whole text of a notice that was too long to be shown, as a file, from what is kept now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.catalog import translate
from agent.commands import CommandReply, Invocation
from agent.fitting import notice_file
from agent.privacy.audit import Act
from plugins.memory.commands.desk import (
    NOT_FOUND,
    Desk,
    Refused,
    Shelf,
    check_reader,
    is_author_of,
    memory_id_of,
    personal_shelf,
    record,
    server_shelf,
    shown_versions,
    view,
)
from plugins.memory.rendering import shown_text
from plugins.memory.rules import UNDO_KEPT

if TYPE_CHECKING:
    from plugins.memory.memory import Memory


class Noticing:
    """Both `notice`."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def notice_server(self, call: Invocation) -> CommandReply:
        """Show a memory of this server whole: to whoever may read them, and to its author."""
        return await self._notice(call, server_shelf(call))

    async def notice_personal(self, call: Invocation) -> CommandReply:
        """Show a memory about whoever asks whole."""
        return await self._notice(call, personal_shelf(call))

    async def _notice(self, call: Invocation, shelf: Shelf) -> CommandReply:
        memory_id = memory_id_of(call.options["id"])
        ids = [memory_id]
        if call.options.get("forgotten") is not None:
            ids.append(memory_id_of(call.options["forgotten"]))
        kept, gone = await self._found(call, shelf, ids)
        seen = await view(self._desk, call, shelf, [*kept, *gone])
        if not seen.memories:
            raise Refused(NOT_FOUND, id=memory_id)
        await record(self._desk, call, Act.READ, seen.memories)
        told = [memory for memory in seen.memories if memory in kept]
        shown_versions(self._desk, call, told)
        lines = [shown_text(memory, seen.names) for memory in told]
        lines += [f"- {shown_text(memory, seen.names)}" for memory in seen.memories if memory not in kept]
        text = translate(call.locale, "Here is the whole text.")
        data = {"memory_ids": [memory.memory_id for memory in seen.memories]}
        return CommandReply(text, private=True, data=data, file=notice_file("\n\n".join(lines)))

    async def _found(self, call: Invocation, shelf: Shelf, ids: list[int]) -> tuple[list[Memory], list[Memory]]:
        """Return those of the memories that are there, and those that are kept for undo, which somebody may read.

        Raises:
            Refused: whoever asks may read none of them.
        """
        kept: list[Memory] = []
        gone: list[Memory] = []
        since = self._desk.writing.clock.now() - UNDO_KEPT
        for memory_id in ids:
            memory = await self._desk.rows.find(shelf.scope, memory_id, shelf.owner_id)
            copy = None if memory is not None else await self._desk.undo.read(memory_id, since)
            if copy is not None and (copy.memory.scope, copy.memory.owner_id) != (shelf.scope, shelf.owner_id):
                copy = None
            is_author = (
                await self._desk.rows.is_author(memory_id, call.account)
                if memory is not None
                else copy is not None and is_author_of(copy, call.account)
            )
            if not shelf.is_personal and not is_author:
                await check_reader(self._desk, call)
            if memory is not None:
                kept.append(memory)
            elif copy is not None:
                gone.append(copy.memory)
        return kept, gone
