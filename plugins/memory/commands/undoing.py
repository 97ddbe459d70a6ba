"""`undo`: brings back what was deleted or gave way, within a day."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.catalog import N_, translate
from agent.commands import CommandReply, Invocation
from agent.contracts.memory import MemoryScope
from agent.privacy.audit import Act
from plugins.memory.commands.desk import (
    CHANGED,
    Desk,
    Refused,
    actor_of,
    check_writer,
    is_author_of,
    memory_id_of,
    record,
    reply,
    version_of,
)
from plugins.memory.commands.writing import refuse
from plugins.memory.rules import UNDO_KEPT, admits
from plugins.memory.undo import Restored, restore

if TYPE_CHECKING:
    from agent.tools import Connection
    from plugins.memory.memory import Memory
    from plugins.memory.undo import Forgotten


class Undoing:
    """The command, for memories of both kinds."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def undo(self, call: Invocation) -> CommandReply:
        """Restore a memory under its old id: a personal one for its person, a server's for its author and managers."""
        memory_id = memory_id_of(call.options["id"])
        since = self._desk.writing.clock.now() - UNDO_KEPT
        forgotten = await self._desk.undo.read(memory_id, since)
        instead = await self._instead(call, forgotten)
        if forgotten is None or not await self._is_theirs(call, forgotten, instead):
            raise Refused(N_("Nothing that was removed in the last 24 hours has the id {id} here."), id=memory_id)
        server_id = call.place.server.server_id
        rows, actor = self._desk.undo, actor_of(call)

        async def bind(conn: Connection, replaced: Memory | None) -> None:
            await record(self._desk, call, Act.EDITED, [forgotten.memory], conn)
            await record(self._desk, call, Act.DELETED, [] if replaced is None else [replaced], conn)

        restored = await restore(self._desk.writing, rows, forgotten, server_id, actor, bind=bind, instead=instead)
        if restored.denial is not None:
            raise refuse(restored.denial)
        if restored.same_as is not None:
            raise Refused(N_("Memory {id} says the same already."), id=restored.same_as)
        if restored.limit is not None:
            raise Refused(N_("Every place is taken ({limit}). Remove a memory first."), limit=restored.limit)
        if restored.changed is not None:
            raise Refused(CHANGED, id=restored.changed)
        if restored == Restored():
            raise Refused(N_("Nothing that was removed in the last 24 hours has the id {id} here."), id=memory_id)
        return reply(translate(call.locale, "Memory {id} is back.", id=memory_id), memory_id=memory_id)

    async def _instead(self, call: Invocation, forgotten: Forgotten | None) -> Memory | None:
        """Return the memory of a card that the forgotten one gave way to, where it is still as the card showed it.

        Raises:
            Refused: somebody has changed it in the meantime.
        """
        if forgotten is None or call.options.get("instead") is None:
            return None
        gone, memory_id = forgotten.memory, memory_id_of(call.options["instead"])
        memory = await self._desk.rows.find(gone.scope, memory_id, gone.owner_id)
        if memory is None or memory.created_at != forgotten.gave_way_at:
            return None
        if version_of(call) not in {None, memory.version}:
            raise Refused(CHANGED, id=memory_id)
        return memory

    async def _is_theirs(self, call: Invocation, forgotten: Forgotten, instead: Memory | None) -> bool:
        """Tell whether somebody may restore it here; the answer repeats no text, so privacy is asked by `restore`."""
        memory = forgotten.memory
        if memory.scope is MemoryScope.PERSONAL:
            return memory.owner_id == call.account.user_id
        if memory.owner_id != call.place.server.server_id:
            return False
        if is_author_of(forgotten, call.account):
            return True
        if instead is not None and await self._desk.rows.is_author(instead.memory_id, call.account):
            return admits(memory, call.place, (call.account.user_id,))  # what they saved has cost it its place
        await check_writer(self._desk, call)
        return admits(memory, call.place, (call.account.user_id,))
