"""`open`, `move`, and what `scope` gives: a memory that comes where another says the same is taken up by that one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.catalog import N_, translate
from agent.commands import CommandReply, Invocation
from agent.personas.rules import find as find_persona
from agent.places import Audience
from agent.privacy.audit import Act
from plugins.memory.commands.desk import (
    Desk,
    Refused,
    actor_of,
    check_writer,
    find,
    personal_shelf,
    record,
    reply,
    server_shelf,
)
from plugins.memory.commands.rows import Amendment

if TYPE_CHECKING:
    from agent.tools import Connection
    from plugins.memory.commands.writing import WritingByHand
    from plugins.memory.memory import Memory


@dataclass(slots=True)
class Placed:
    """What became of a memory that was given another place: its new version, or the one that took it up."""

    version: int | None = None
    taken_up_by: int | None = None


class Placing:
    """The commands that give a memory another audience, lineage or channels."""

    def __init__(self, desk: Desk, writing: WritingByHand) -> None:
        self._desk = desk
        self._writing = writing

    async def open_server(self, call: Invocation) -> CommandReply:
        """Let a memory be known in the whole server; for managers alone, because it cannot be taken back."""
        if not call.can_manage:
            raise Refused(N_("Only those who manage this server may do that."))
        memory, _ = await find(self._desk, call, server_shelf(call))
        return await self._open(call, memory, Audience.SERVER)

    async def open_personal(self, call: Invocation) -> CommandReply:
        """Let a memory about whoever asks be known wherever they take part."""
        memory, _ = await find(self._desk, call, personal_shelf(call))
        return await self._open(call, memory, Audience.OPEN)

    async def move(self, call: Invocation) -> CommandReply:
        """Give a memory of this server to another persona."""
        await check_writer(self._desk, call)
        memory, _ = await find(self._desk, call, server_shelf(call))
        personas = await self._desk.personas.for_server(call.place.server.server_id)
        persona = find_persona(personas, str(call.options["persona"]))
        if persona.lineage_id == memory.lineage_id:
            raise Refused(N_("{name} has memory {id} already."), name=persona.nickname, id=memory.memory_id)
        placed = await self.place(call, memory, Amendment(lineage_id=persona.lineage_id))
        if placed.taken_up_by is not None:
            return taken_up(call, memory, placed.taken_up_by)
        text = translate(call.locale, "Memory {id} belongs to {name} now.", id=memory.memory_id, name=persona.nickname)
        return reply(text, memory_id=memory.memory_id, persona_lineage_id=persona.lineage_id)

    async def _open(self, call: Invocation, memory: Memory, audience: Audience) -> CommandReply:
        if memory.audience is audience or memory.audience is Audience.OPEN:
            raise Refused(N_("Memory {id} may be told there already."), id=memory.memory_id)
        placed = await self.place(call, memory, Amendment(audience=audience))
        if placed.taken_up_by is not None:
            return taken_up(call, memory, placed.taken_up_by)
        text = (
            translate(call.locale, "Memory {id} may be told wherever you take part now.", id=memory.memory_id)
            if audience is Audience.OPEN
            else translate(call.locale, "Memory {id} may be told in the whole server now.", id=memory.memory_id)
        )
        return reply(text, memory_id=memory.memory_id, audience=audience.value, version=placed.version)

    async def place(self, call: Invocation, memory: Memory, given: Amendment) -> Placed:
        """Give a memory what decides who reads it where; one that says the same there takes it up.

        Raises:
            Refused: a guard denied it, it is gone, somebody has changed it in between, or every place is taken there.
        """
        placed = Placed()

        async def apply(conn: Connection, present: Memory) -> int | None:
            placed.taken_up_by = await self._desk.rows.same(conn, present, given)
            if placed.taken_up_by is not None:
                return await self._take_up(call, conn, present, placed.taken_up_by)
            if given.lineage_id is not None:
                await self._check_room(conn, present, given.lineage_id)
            return await self._writing.amend_rows(call, conn, present, given)

        placed.version = (await self._writing.change(call, memory, apply)).version
        return placed

    async def _take_up(self, call: Invocation, conn: Connection, memory: Memory, standing: int) -> int | None:
        """Remove a memory for one that says the same; a copy is kept for undo, as of every removal."""
        writing, actor = self._desk.writing, actor_of(call)
        now = writing.clock.now()
        await self._desk.rows.stand_for(conn, standing, memory, actor, now)
        removed = await writing.repository.remove(conn, memory, actor, now)
        await record(self._desk, call, Act.EDITED, [memory], conn)
        return None if removed is None else memory.version

    async def _check_room(self, conn: Connection, memory: Memory, lineage_id: int) -> None:
        cap = self._desk.writing.settings.max_server_memories
        if await self._desk.rows.count(conn, memory.scope, memory.owner_id, lineage_id) >= cap:
            raise Refused(N_("Every place is taken ({limit}). Remove a memory first."), limit=cap)


def taken_up(call: Invocation, memory: Memory, standing: int) -> CommandReply:
    """Tell that another memory says the same there, which is the one that stays."""
    text = translate(
        call.locale,
        "Memory {other} says the same there. It stays, fresh and protected, and {id} is removed; undo brings it back.",
        other=standing,
        id=memory.memory_id,
    )
    return reply(text, memory_id=standing, removed_id=memory.memory_id)
