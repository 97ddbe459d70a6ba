"""`/memories scope`: in which channels a memory applies; what waits for a decision; nothing here widens an audience."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from agent.catalog import N_, translate
from agent.commands import CommandReply, Invocation
from agent.privacy.audit import Act
from agent.text import one_line
from plugins.memory.commands.desk import (
    Desk,
    Refused,
    check_reader,
    check_writer,
    find,
    memory_id_of,
    record,
    reply,
    server_shelf,
    shown_versions,
    view,
)
from plugins.memory.commands.placing import taken_up
from plugins.memory.commands.rows import Amendment
from plugins.memory.rendering import line, shown_text
from plugins.memory.scope_rules import ChannelNames, KnownChannel, Settled, Waiting

if TYPE_CHECKING:
    from plugins.memory.commands.placing import Placing
    from plugins.memory.scope_rows import PendingScope

PENDING: Final = "pending"
EVERYWHERE: Final = "everywhere"
_SHOWN: Final = 20


class Scoping:
    """`/memories scope ID #channel…`, `scope ID everywhere` and `scope pending`."""

    def __init__(self, desk: Desk, placing: Placing) -> None:
        self._desk = desk
        self._placing = placing

    async def scope(self, call: Invocation) -> CommandReply:
        """Give a memory its channels, or list what waits for some."""
        word = str(call.options["id"]).strip()
        if word.casefold() == PENDING:
            return await self._pending(call)
        memory_id = memory_id_of(int(word) if word.isascii() and word.isdecimal() else word)
        await check_writer(self._desk, call, memory_id)
        asked = replace(call, options={**call.options, "id": memory_id})
        memory, _ = await find(self._desk, asked, server_shelf(call))
        names = str(call.options.get("channels") or "").replace(",", " ").split()
        if not names:
            raise Refused(N_("Name the channels, or say everywhere."))
        channels = await self._channels(call, names)
        placed = await self._placing.place(asked, memory, Amendment(channel_ids=channels))
        if placed.taken_up_by is not None:
            return taken_up(call, memory, placed.taken_up_by)
        text = (
            translate(call.locale, "Memory {id} applies in: {channels}", id=memory_id, channels=" ".join(names))
            if channels
            else translate(call.locale, "Memory {id} applies everywhere now.", id=memory_id)
        )
        return reply(text, memory_id=memory_id, channels=list(channels), version=placed.version)

    async def _channels(self, call: Invocation, names: list[str]) -> tuple[str, ...]:
        if [name.casefold() for name in names] == [EVERYWHERE]:
            return ()
        known = await self._desk.rows.channels(call.place.server.server_id)
        by_id = {external_id: f"<#{external_id}>" for external_id in known}
        tags = [by_id.get(name, name) for name in names]
        match ChannelNames(KnownChannel(each, name) for each, name in known.items()).settle(tags):
            case Settled(channel_ids):
                return channel_ids
            case Waiting(unknown, ambiguous):
                if unknown:
                    raise Refused(N_("I have seen no channel called {name} here."), name=unknown[0])
                name, ids = next(iter(ambiguous.items()))
                raise Refused(
                    N_("Several channels are called {name}: say which by its id, {ids}."),
                    name=name,
                    ids=", ".join(ids),
                )

    async def _pending(self, call: Invocation) -> CommandReply:
        await check_reader(self._desk, call)
        shelf = server_shelf(call)
        waiting = await self._desk.scopes.pending(shelf.owner_id)
        rows = [await self._desk.rows.find(shelf.scope, each.memory_id, shelf.owner_id) for each in waiting]
        seen = await view(self._desk, call, shelf, [row for row in rows if row is not None])
        shown = seen.memories[:_SHOWN]
        await record(self._desk, call, Act.READ, shown)
        shown_versions(self._desk, call, shown)
        scopes = {each.memory_id: each for each in waiting}
        lines = [
            f"{line(memory, shown_text(memory, seen.names))} [{_why(call.locale, scopes[memory.memory_id])}]"
            for memory in shown
        ]
        if not lines:
            lines = [translate(call.locale, "No memory waits for its channels.")]
        data = [{"memory_id": memory.memory_id, "names": list(scopes[memory.memory_id].tags)} for memory in shown]
        return reply("\n".join(lines), memories=data)


def _why(locale: str, pending: PendingScope) -> str:
    """Return what is not known of the names of a scope."""
    names = one_line(" ".join(pending.tags))
    match pending.scope:
        case Waiting(unknown, _) if unknown:
            return translate(locale, "{names}: not seen yet", names=names)
        case Waiting():
            return translate(locale, "{names}: several channels are called so", names=names)
        case Settled():
            return translate(locale, "{names}: about to be settled", names=names)
