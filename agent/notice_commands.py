"""`/notices …`: how much of a notice a server sees, and where the full ones go (memory.md, Notices)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agent.catalog import N_, translate
from agent.commands import Command, CommandReply, Invocation, Option, OptionKind, Rights
from agent.contracts.cards import NoticeVisibility
from agent.core_preferences import NOTICE_VISIBILITY, THOUGHT_LOG
from agent.preferences import Preference, resolve
from agent.preferences_repository import read_rows
from agent.store.queries import load_queries
from agent.text import one_line
from agent.turn.values import server_owner

if TYPE_CHECKING:
    from agent.core import Core

QUERIES = load_queries("agent", "notice_commands.sql")

_SHOWN: Final = {
    NoticeVisibility.FULL: N_("Notices are shown in full."),
    NoticeVisibility.MINIMAL: N_("Of a notice the title alone is shown."),
    NoticeVisibility.HIDDEN: N_("Notices are not shown."),
}


class NoticeCommands:
    """The commands; all of them need the right to manage."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def commands(self) -> tuple[Command, ...]:
        """Return the commands."""
        level = Option(
            "level",
            N_("full, minimal (the title alone) or hidden."),
            choices=tuple(each.value for each in NoticeVisibility),
        )
        channel = Option("channel", N_("The channel; left out: none."), OptionKind.CHANNEL, required=False)
        return (
            _command("show", N_("Show how much of a notice this server sees."), self.show),
            _command(
                "visibility", N_("Choose how much of a notice is shown in conversations."), self.visibility, level
            ),
            _command(
                "log", N_("Choose a channel for the full notices, where they are not shown in full."), self.log, channel
            ),
        )

    async def show(self, call: Invocation) -> CommandReply:
        """Say what is chosen."""
        server_id = call.place.server.server_id
        async with self._core.store.connection() as conn:
            chosen = (await read_rows(conn, server_id, None)).server
        visibility = NoticeVisibility(resolve(NOTICE_VISIBILITY, chosen, {}).value)
        log = str(resolve(THOUGHT_LOG, chosen, {}).value)
        lines = [translate(call.locale, _SHOWN[visibility])]
        if log:
            name = await self._channel(call, log)
            lines.append(_logged(call.locale, name or log, visibility))
        data = {"visibility": visibility.value, "log": log or None}
        return CommandReply("\n".join(lines), private=True, data=data)

    async def visibility(self, call: Invocation) -> CommandReply:
        """Choose how much is shown."""
        await self._choose(call, NOTICE_VISIBILITY, call.options["level"])
        return await self.show(call)

    async def log(self, call: Invocation) -> CommandReply:
        """Choose the channel that gets the full notices: one of this server, so that none learns of another's."""
        channel = str(call.options.get("channel") or "")
        if channel and await self._channel(call, channel) is None:
            text = translate(call.locale, "I have seen no channel called {name} here.", name=one_line(channel))
            return CommandReply(text, private=True, ok=False)
        await self._choose(call, THOUGHT_LOG, channel)
        return await self.show(call)

    async def _choose(self, call: Invocation, preference: Preference[Any], value: object) -> None:
        server_id = call.place.server.server_id
        await self._core.privacy.choose_for_server(server_id, preference, value)
        self._core.revisions.announce(server_owner(server_id))

    async def _channel(self, call: Invocation, external_id: str) -> str | None:
        """Return the name of a channel of this server."""
        place = call.place
        async with self._core.store.connection() as conn:
            found = await conn.fetchval(QUERIES["channel_name"], place.server.server_id, place.platform, external_id)
        return None if found is None else str(found)


def _logged(locale: str, name: str, visibility: NoticeVisibility) -> str:
    channel = f"#{one_line(name)}"
    if visibility is NoticeVisibility.FULL:
        return translate(locale, "Once they are not, {channel} gets the full ones.", channel=channel)
    return translate(locale, "{channel} gets the full ones, but for what only some may know.", channel=channel)


def _command(word: str, description: str, run: Any, *options: Option) -> Command:
    return Command(("notices", word), description, run, options, Rights.MANAGE, private=True)
