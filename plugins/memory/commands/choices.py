"""`/memories settings`: caps, decay, how much is taken, and what those who manage the server may switch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agent.catalog import N_, translate
from agent.commands import CommandReply, Invocation
from agent.privacy.switches import MEMBER_ACCESS
from agent.turn.values import server_owner
from plugins.memory.commands.desk import Desk, Refused, reply, server_shelf
from plugins.memory.toolbox import CHANNEL_MEMORY, MEMBER_EDITS, SELF_TEACHING

if TYPE_CHECKING:
    from agent.preferences import Preference

SWITCHES: Final[dict[str, Preference[bool]]] = {
    "self-teaching": SELF_TEACHING,
    "channel-memory": CHANNEL_MEMORY,
    "member-access": MEMBER_ACCESS,
    "member-edits": MEMBER_EDITS,
}
"""What can be switched."""


class Choices:
    """The command."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def settings(self, call: Invocation) -> CommandReply:
        """Show everything, or set a switch."""
        name, state = call.options.get("name"), call.options.get("state")
        if name is not None and name not in SWITCHES:
            raise Refused(N_("There is no such switch: {names}."), names=", ".join(SWITCHES))
        server_id = call.place.server.server_id
        if name is not None and state is not None:
            await self._desk.privacy.choose_for_server(server_id, SWITCHES[name], bool(state))
            self._desk.writing.revisions.announce(server_owner(server_id))
        states = {each: await self._desk.is_on(SWITCHES[each], server_id) for each in SWITCHES}
        lines = [
            f"{each}: {translate(call.locale, 'on') if is_on else translate(call.locale, 'off')} - "
            f"{translate(call.locale, SWITCHES[each].description)}"
            for each, is_on in states.items()
            if name in {None, each}
        ]
        if name is None:
            lines = [*await self._figures(call), *lines]
        return reply("\n".join(lines), switches=states)

    async def _figures(self, call: Invocation) -> list[str]:
        settings, shelf = self._desk.writing.settings, server_shelf(call)
        taken = await self._desk.rows.counted(shelf.scope, shelf.owner_id, shelf.lineage_id)
        decay = settings.decay
        return [
            translate(
                call.locale, "{count} of {limit} places are taken.", count=taken, limit=settings.max_server_memories
            ),
            translate(call.locale, "A memory has at most {limit} characters.", limit=settings.max_memory_length),
            translate(call.locale, "Memories sleep after {days} days.", days=decay.days)
            if decay.enabled
            else translate(call.locale, "Memories never sleep."),
        ]
