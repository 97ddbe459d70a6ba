"""The commands by which people see what is remembered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agent.catalog import N_, translate
from agent.commands import Command, CommandReply, Invocation, Option, OptionKind
from agent.contracts.memory import MemoryRead, MemoryScope
from agent.identity.names import normalise
from agent.privacy.audit import Act, Look
from plugins.memory.reading import untellable
from plugins.memory.rendering import Names, line, shown_text
from plugins.memory.rules import admits, subject_accounts

if TYPE_CHECKING:
    from agent.privacy.audit import Audit
    from agent.privacy.guards import MemoryGuards
    from agent.privacy.repository import Privacy
    from plugins.memory.memory import Memory
    from plugins.memory.repository import MemoryRepository

PAGE: Final = 10
"""Memories on one page."""
_PAGE_OPTION: Final = Option("page", N_("Which page."), OptionKind.INTEGER, required=False)


class MemoryCommands:
    """`/memories list` and `/personal memories list`."""

    def __init__(self, repository: MemoryRepository, guards: MemoryGuards, privacy: Privacy, audit: Audit) -> None:
        self._repository = repository
        self._guards = guards
        self._privacy = privacy
        self._audit = audit

    def commands(self) -> tuple[Command, ...]:
        """Return the commands."""
        return (
            Command(
                ("memories", "list"),
                N_("Show what I remember about this server."),
                self.list_server,
                (_PAGE_OPTION,),
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
        """Show the memories of this server that may be known here, to managers or whom they have let in; audited."""
        if not call.can_manage and not await self._privacy.members_may_list(call.place.server.server_id):
            text = translate(call.locale, "Only those who manage this server may do that.")
            return CommandReply(text, private=True, ok=False)
        server_id, lineage_id = call.place.server.server_id, call.persona.lineage_id
        read = MemoryRead(MemoryScope.SERVER, server_id, None, lineage_id, call.account.account_id)
        if await self._guards.check_read(read) is not None:
            return CommandReply(translate(call.locale, "This may not be shown now."), private=True, ok=False)
        rows = await self._repository.block(server_id, (), lineage_id)
        standing = await self._repository.standing(subject_accounts(rows), (), server_id)
        withheld = await untellable(self._guards, read, rows, standing.people)
        readers = (call.account.user_id,)
        hidden = await self._guards.hidden_names(server_id)
        names = Names(call.persona.nickname, standing.names, {})
        told = [
            one
            for one in rows
            if one.memory_id not in withheld
            and admits(one, call.place, readers)
            and not hidden.here.named_in(shown_text(one, names))
        ]
        page = _page_of(call, told)
        await self._audit.record(_looks(call, page.memories), call.now)
        return _reply(call, page, len(rows) - len(told), names)

    async def list_personal(self, call: Invocation) -> CommandReply:
        """Show what is remembered about whoever asks, as far as it may be known here."""
        user_id = call.account.user_id
        if user_id is None:
            text = translate(call.locale, "You have no personal memories: only a linked account can own them.")
            return CommandReply(text, private=True)
        rows = await self._repository.block(None, (user_id,), call.persona.lineage_id)
        names = Names(call.persona.nickname, {}, {user_id: call.account.display_name})
        hidden = await self._guards.hidden_names(call.place.server.server_id, [call.account.account_id])
        others = hidden.around.without({normalise(call.account.display_name)})
        here = [
            memory
            for memory in rows
            if admits(memory, call.place, (user_id,)) and not others.named_in(shown_text(memory, names))
        ]
        return _reply(call, _page_of(call, here), len(rows) - len(here), names)


@dataclass(frozen=True, slots=True)
class _Page:
    memories: Sequence[Memory]
    number: int
    pages: int


def _page_of(call: Invocation, memories: Sequence[Memory]) -> _Page:
    """Return the page that is asked for, or the nearest one."""
    pages = max(-(-len(memories) // PAGE), 1)
    number = min(max(int(call.options.get("page") or 1), 1), pages)
    return _Page(memories[(number - 1) * PAGE : number * PAGE], number, pages)


def _looks(call: Invocation, memories: Sequence[Memory]) -> list[Look]:
    """Return what the audit trail says of showing these memories: an act on each person whom some are about."""
    about = Counter((memory.subject_account_id, memory.subject_user_id) for memory in memories)
    return [
        Look(
            Act.READ,
            f"/{' '.join(call.command)}",
            call.account.account_id,
            call.place.server.server_id,
            account_id,
            user_id,
            items,
        )
        for (account_id, user_id), items in about.items()
        if account_id is not None or user_id is not None
    ]


def _reply(call: Invocation, page: _Page, elsewhere: int, names: Names) -> CommandReply:
    """Return one page of memories, and how many may not be shown in this place."""
    texts = [(memory, shown_text(memory, names)) for memory in page.memories]
    lines = [line(memory, text) for memory, text in texts]
    if not lines:
        lines = [translate(call.locale, "I remember nothing here.")]
    if page.pages > 1:
        lines.append(translate(call.locale, "Page {page} of {pages}.", page=page.number, pages=page.pages))
    if elsewhere:
        lines.append(translate(call.locale, "{count} more cannot be shown in this place.", count=elsewhere))
    data = {
        "memories": [{"memory_id": memory.memory_id, "content": text} for memory, text in texts],
        "page": page.number,
        "pages": page.pages,
        "elsewhere": elsewhere,
    }
    return CommandReply("\n".join(lines), private=True, data=data)
