"""The commands by which people see what is remembered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from agent.catalog import N_, translate
from agent.commands import Command, CommandReply, Invocation, Option, OptionKind, Rights
from agent.contracts.memory import MemoryRead, MemoryScope
from plugins.memory.reading import untellable
from plugins.memory.rendering import Names, line, shown_text
from plugins.memory.rules import admits, subject_accounts

if TYPE_CHECKING:
    from agent.privacy.guards import MemoryGuards
    from plugins.memory.memory import Memory
    from plugins.memory.repository import MemoryRepository

PAGE: Final = 10
"""Memories on one page."""
_PAGE_OPTION: Final = Option("page", N_("Which page."), OptionKind.INTEGER, required=False)


class MemoryCommands:
    """`/memories list` and `/personal memories list`."""

    def __init__(self, repository: MemoryRepository, guards: MemoryGuards) -> None:
        self._repository = repository
        self._guards = guards

    def commands(self) -> tuple[Command, ...]:
        """Return the commands."""
        return (
            Command(
                ("memories", "list"),
                N_("Show what I remember about this server."),
                self.list_server,
                (_PAGE_OPTION,),
                Rights.MANAGE,
                private=True,
                owner="memory",
            ),
            Command(
                ("personal", "memories", "list"),
                N_("Show what I remember about you."),
                self.list_personal,
                (_PAGE_OPTION,),
                private=True,
                owner="memory",
            ),
        )

    async def list_server(self, call: Invocation) -> CommandReply:
        """Show the memories of this server that may be known here."""
        server_id, lineage_id = call.place.server.server_id, call.persona.lineage_id
        read = MemoryRead(MemoryScope.SERVER, server_id, None, lineage_id, call.account.account_id)
        if await self._guards.check_read(read) is not None:
            return CommandReply(translate(call.locale, "This may not be shown now."), private=True, ok=False)
        rows = await self._repository.block(server_id, (), lineage_id)
        standing = await self._repository.standing(subject_accounts(rows), (), server_id)
        withheld = await untellable(self._guards, read, rows, standing.people)
        readers = (call.account.user_id,)
        told = [one for one in rows if one.memory_id not in withheld and admits(one, call.place, readers)]
        return _page(call, told, len(rows) - len(told), Names(call.persona.nickname, standing.names, {}))

    async def list_personal(self, call: Invocation) -> CommandReply:
        """Show what is remembered about whoever asks, as far as it may be known here."""
        user_id = call.account.user_id
        if user_id is None:
            text = translate(call.locale, "You have no personal memories: only a linked account can own them.")
            return CommandReply(text, private=True)
        rows = await self._repository.block(None, (user_id,), call.persona.lineage_id)
        here = [memory for memory in rows if admits(memory, call.place, (user_id,))]
        names = Names(call.persona.nickname, {}, {user_id: call.account.display_name})
        return _page(call, here, len(rows) - len(here), names)


def _page(call: Invocation, memories: Sequence[Memory], elsewhere: int, names: Names) -> CommandReply:
    """Return one page of memories, and how many may not be shown in this place."""
    pages = max(-(-len(memories) // PAGE), 1)
    page = min(max(int(call.options.get("page") or 1), 1), pages)
    shown = memories[(page - 1) * PAGE : page * PAGE]
    texts = [(memory, shown_text(memory, names)) for memory in shown]
    lines = [line(memory, text) for memory, text in texts]
    if not lines:
        lines = [translate(call.locale, "I remember nothing here.")]
    if pages > 1:
        lines.append(translate(call.locale, "Page {page} of {pages}.", page=page, pages=pages))
    if elsewhere:
        lines.append(translate(call.locale, "{count} more cannot be shown in this place.", count=elsewhere))
    data = {
        "memories": [{"memory_id": memory.memory_id, "content": text} for memory, text in texts],
        "page": page,
        "pages": pages,
        "elsewhere": elsewhere,
    }
    return CommandReply("\n".join(lines), private=True, data=data)
