"""`/memories export|import` for those who manage a server, `/personal memories export|import` for everybody."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Final

from agent.catalog import N_, translate, translate_count
from agent.commands import Command, CommandReply, Invocation, Option, OptionKind, Rights
from agent.contracts.memory import MemoryRead, MemoryScope
from agent.files import FileRefused, ReplyFile
from agent.identity.names import normalise
from agent.text import one_line
from plugins.memory.cards import disclosure_lines
from plugins.memory.rules import admits
from plugins.memory.transfer.entries import MAX_FILE, ImportRefused
from plugins.memory.transfer.export import Reach
from plugins.memory.transfer.importing import How
from plugins.memory.transfer.outcome import Became
from plugins.memory.transfer.reading import read_file
from plugins.memory.transfer.service import Whereto, refusal_lines, report_lines

if TYPE_CHECKING:
    from plugins.memory.memory import Memory
    from plugins.memory.transfer.export import Exported
    from plugins.memory.transfer.outcome import Imported
    from plugins.memory.transfer.service import Transfers

MERGE: Final = "merge"
REPLACE: Final = "replace"
FILE_NAME: Final = "memories.json"

_FILE: Final = Option("file", N_("A file of memories (JSON)."), OptionKind.FILE)
_MODE: Final = Option("mode", N_("Add to what there is, or replace it."), required=False, choices=(MERGE, REPLACE))
_PERSONA: Final = Option("persona", N_("The persona whose memories they are."), required=False)
_SURE: Final = Option("sure", N_("Yes, replace them."), OptionKind.BOOLEAN, required=False)
_NARROW: Final = Option(
    "all_audiences", N_("Also what only some members may read."), OptionKind.BOOLEAN, required=False
)

type _Run = Callable[[TransferCommands, Invocation], Awaitable[CommandReply]]


def _told(run: _Run) -> _Run:
    """Let a command say what is wrong with a file."""

    @wraps(run)
    async def told(self: TransferCommands, call: Invocation) -> CommandReply:
        try:
            return await run(self, call)
        except FileRefused as refused:
            return CommandReply(str(refused), private=True, ok=False)
        except ImportRefused as refused:
            first = translate(call.locale, "Nothing was imported, because of what is wrong in the file:")
            data = {"faults": list(refused.lines)}
            text = "\n".join([first, *refusal_lines(refused)])
            return CommandReply(text, private=True, ok=False, data=data)

    return told


class TransferCommands:
    """The commands."""

    def __init__(self, transfers: Transfers) -> None:
        self._transfers = transfers

    def commands(self) -> tuple[Command, ...]:
        """Return the commands."""
        personal = ("personal", "memories")
        given = (_FILE, _MODE, _PERSONA, _SURE)
        return (
            _command(
                ("memories", "export"),
                N_("Give what I remember about this server as a file."),
                self.export_server,
                (_PERSONA, _NARROW),
                Rights.MANAGE,
            ),
            _command(
                ("memories", "import"),
                N_("Take over memories about this server from a file."),
                self.import_server,
                (*given, _NARROW),
                Rights.MANAGE,
            ),
            _command((*personal, "export"), N_("Give what I remember about you as a file."), self.export_own, ()),
            _command((*personal, "import"), N_("Take over memories about you from a file."), self.import_own, given),
        )

    @_told
    async def export_server(self, call: Invocation) -> CommandReply:
        """Give the memories of this server."""
        server_id, persona = call.place.server.server_id, str(call.options.get("persona") or "")
        reach = Reach(
            server_id=server_id,
            lineage_id=await self._transfers.lineage(server_id, persona) if persona else None,
            narrow=bool(call.options.get("all_audiences")),
            reader_account_id=call.account.account_id,
            via=_via(call),
        )
        return _given(call, await self._transfers.exporter.export(reach))

    @_told
    async def export_own(self, call: Invocation) -> CommandReply:
        """Give the memories about whoever asks: all of them in a direct conversation, else what may be read here."""
        user_id = call.account.user_id
        if user_id is None:
            return _nobody(call)

        server_id, guards = call.place.server.server_id, self._transfers.guards
        read = MemoryRead(MemoryScope.PERSONAL, server_id, user_id, call.persona.lineage_id, call.account.account_id)
        if await guards.check_own_read(read) is not None:
            return CommandReply(translate(call.locale, "This may not be shown now."), private=True, ok=False)
        hidden = await guards.hidden_names(server_id, [call.account.account_id])
        others = hidden.around.without({normalise(call.account.display_name)})

        def may_be_read(memory: Memory) -> bool:
            here = call.place.server.is_direct or admits(memory, call.place, (user_id,))
            return here and not others.named_in(memory.content)

        reach = Reach(user_id=user_id, reader_account_id=call.account.account_id, via=_via(call))
        return _given(call, await self._transfers.exporter.export(reach, may_be_read))

    @_told
    async def import_server(self, call: Invocation) -> CommandReply:
        """Take over memories of this server."""
        return await self._import(call, takes_server=True, user_id=None)

    @_told
    async def import_own(self, call: Invocation) -> CommandReply:
        """Take over memories about whoever asks."""
        if call.account.user_id is None:
            return _nobody(call)
        reply = await self._import(call, takes_server=False, user_id=call.account.user_id)
        if not reply.ok or not await self._transfers.tell_once(call.account.account_id):
            return reply
        told = disclosure_lines(one_line(call.account.display_name), call.locale)
        return replace(reply, text="\n".join((reply.text, *told)))

    async def _import(self, call: Invocation, *, takes_server: bool, user_id: int | None) -> CommandReply:
        file = call.options["file"]
        parsed = await asyncio.to_thread(read_file, await file.read(MAX_FILE), file.name)
        replaces = call.options.get("mode") == REPLACE
        asks = replaces and not call.options.get("sure")
        to = Whereto(
            platform=call.place.platform,
            server_id=call.place.server.server_id,
            takes_server=takes_server,
            user_id=user_id,
            persona=str(call.options.get("persona") or ""),
            speaking=call.persona,
            channel=call.place.channel.ref.external_id,
        )
        how = How(
            replaces=replaces,
            tries=asks,
            narrow=bool(call.options.get("all_audiences")),
            importer_account_id=call.account.account_id,
            via=_via(call),
        )
        imported = await self._transfers.importer.run(parsed, await self._transfers.target(to), how)
        return _reported(call, imported, asks=asks)


def _command(
    path: tuple[str, ...],
    description: str,
    run: Callable[[Invocation], Awaitable[CommandReply]],
    options: tuple[Option, ...],
    rights: Rights = Rights.EVERYONE,
) -> Command:
    return Command(path, description, run, options, rights, private=True, owner="memory")


def _via(call: Invocation) -> str:
    return f"/{' '.join(call.command)}"


def _nobody(call: Invocation) -> CommandReply:
    text = translate(call.locale, "You have no personal memories: only a linked account can own them.")
    return CommandReply(text, private=True, ok=False)


def _given(call: Invocation, exported: Exported) -> CommandReply:
    """Return the file, and what is not in it."""
    locale = call.locale
    lines = [
        translate_count(locale, "{count} memory is in the file.", "{count} memories are in the file.", exported.count)
    ]
    if exported.narrower:
        lines.append(
            translate_count(
                locale,
                "{count} that only some members may read is not (all_audiences=yes).",
                "{count} that only some members may read are not (all_audiences=yes).",
                exported.narrower,
            )
        )
    if exported.withheld:
        lines.append(translate(locale, "{count} more cannot be shown in this place.", count=exported.withheld))
    data = {
        "server_memories": exported.server_memories,
        "personal_memories": exported.personal_memories,
        "narrower": exported.narrower,
        "withheld": exported.withheld,
    }
    file = ReplyFile(FILE_NAME, exported.content)
    return CommandReply("\n".join(lines), private=True, data=data, file=file)


def _reported(call: Invocation, imported: Imported, *, asks: bool) -> CommandReply:
    """Return what became of an import, line by line."""
    data: dict[str, Any] = imported.data()
    first = summary(imported, call.locale)
    if asks and imported.fits:
        sure = translate(
            call.locale,
            "Nothing has changed yet: this would remove {count} memories. Say it again with sure=yes.",
            count=imported.removed,
        )
        first = f"{sure}\n{first}"
    elif not imported.written:
        nothing = translate(
            call.locale, "Nothing has changed: what is in the file cannot take the place of what is here."
        )
        first = f"{nothing}\n{first}"
    text = "\n".join([first, *report_lines(imported)])
    return CommandReply(text, private=True, ok=imported.written, data=data)


def summary(imported: Imported, locale: str) -> str:
    """Return the counts in one sentence."""
    return translate(
        locale,
        "{saved} saved, {known} already known, {left} left out.",
        saved=imported.count(Became.SAVED, Became.EVICTED),
        known=imported.count(Became.KNOWN),
        left=imported.count(Became.REFUSED, Became.FULL),
    )
