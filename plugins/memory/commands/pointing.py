"""What is asked of a message or a person: to keep it, why something is known, what is remembered."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from agent.catalog import N_, translate, translate_count
from agent.commands import CommandReply, GivenMessage, Invocation
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.privacy.audit import Act
from plugins.memory.commands.desk import (
    Desk,
    Refused,
    Shelf,
    View,
    check_reader,
    check_writer,
    personal_shelf,
    record,
    reply,
    server_shelf,
    shown_versions,
    source_of,
    view,
)
from plugins.memory.rendering import shown_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.contracts.people import Account
    from plugins.memory.commands.showing import Showing
    from plugins.memory.commands.writing import WritingByHand
    from plugins.memory.memory import Memory

NEAREST: Final = 5
"""Memories that are told when none was learned from a message itself."""
MOST: Final = 50
"""Memories about a person in one answer."""


class Pointing:
    """`remember`, `because` and `about`."""

    def __init__(self, desk: Desk, show: Showing, write: WritingByHand) -> None:
        self._desk = desk
        self._show = show
        self._write = write

    async def remember(self, call: Invocation) -> CommandReply:
        """Keep what somebody said as a memory of this server about them."""
        await check_writer(self._desk, call)
        message = call.options["message"]
        if not isinstance(message, GivenMessage):
            raise Refused(N_("I cannot read that message here. Use /memories add with its text."))
        if not message.text.strip():
            raise Refused(N_("There is nothing to keep in this text."))
        source = replace(source_of(call), message_id=message.message_id, occurred_at=message.occurred_at or call.now)
        if message.from_agent:
            text = translate(call.locale, "{bot} said: {text}", text=message.text)
            return await self._write.keep(call, server_shelf(call), text, None, source)
        if message.author.kind is ParticipantKind.WEBHOOK:
            raise Refused(N_("I cannot tell who is behind this message, so I do not keep it."))
        place = call.place
        entrance = await self._desk.people.enter(place.server.ref, place.channel.ref, message.author, call.now)
        text = translate(call.locale, "{user} said: {text}", text=message.text)
        return await self._write.keep(call, server_shelf(call), text, entrance.account, source)

    async def because(self, call: Invocation) -> CommandReply:
        """Show what was learned from a message, else what is nearest to it, with where it comes from."""
        given = call.options["message"]
        message_id = given.message_id if isinstance(given, GivenMessage) else str(given)
        views = await self._views(call)
        learned = await self._desk.rows.learned_from(call.place.platform, message_id)
        found = [only(seen, learned) for seen in views]
        lines: list[str] = []
        if not any(seen.memories for seen in found):
            lines = [translate(call.locale, "From this message itself I have learned nothing.")]
            if isinstance(given, GivenMessage) and given.text.strip():
                found = [await self._nearest(seen, given.text) for seen in views]
            if any(seen.memories for seen in found):
                lines.append(translate(call.locale, "What I remember that comes nearest to it:"))
        for seen in found:
            lines += await self._told(call, seen)
        memory_ids = [memory.memory_id for seen in found for memory in seen.memories]
        return reply("\n".join(lines), memory_ids=memory_ids, learned=bool(learned.intersection(memory_ids)))

    async def about(self, call: Invocation) -> CommandReply:
        """Show what is remembered about somebody: to themselves, and to those who may read this server's memories."""
        account = await self._account(call)
        is_own = account.account_id == call.account.account_id or (
            account.user_id is not None and account.user_id == call.account.user_id
        )
        if not is_own:
            await check_reader(self._desk, call)
        shelf = server_shelf(call)
        rows = await self._rows(shelf)
        found = [await view(self._desk, call, shelf, [memory for memory in rows if _is_about(memory, account)])]
        if is_own and call.account.user_id is not None:
            own = personal_shelf(call)
            found.append(await view(self._desk, call, own, await self._rows(own)))
        lines = [line for seen in found for line in await self._shown(call, seen)]
        if len(lines) > MOST:
            more = len(lines) - MOST
            lines = [
                *lines[:MOST],
                translate_count(call.locale, "{count} more is not shown.", "{count} more are not shown.", more),
            ]
        memory_ids = [memory.memory_id for seen in found for memory in seen.memories]
        text = "\n".join(lines) or translate(call.locale, "I remember nothing here.")
        return reply(text, memory_ids=memory_ids, elsewhere=sum(seen.elsewhere for seen in found))

    async def _account(self, call: Invocation) -> Account:
        """Return the account of the option, on this platform or the one that its kind names. Raises Refused."""
        key = call.options["person"]
        if key == call.account.key:
            return call.account
        if isinstance(key, ParticipantKey):
            for platform in dict.fromkeys((call.place.platform, key.kind.value.partition("_")[0])):
                for account in await self._desk.people.find(platform, key.id):
                    if account.key == key:
                        return account
        raise Refused(N_("I know nobody of this account."))

    async def _views(self, call: Invocation) -> list[View]:
        """Return what may be seen here of this server's memories and of those about whoever asks.

        Raises:
            Refused: neither may be.
        """
        views: list[View] = []
        refused: Refused | None = None
        try:
            await check_reader(self._desk, call)
            shelf = server_shelf(call)
            views.append(await view(self._desk, call, shelf, await self._rows(shelf)))
        except Refused as reason:
            refused = reason
        if call.account.user_id is not None:
            own = personal_shelf(call)
            views.append(await view(self._desk, call, own, await self._rows(own)))
        if not views and refused is not None:
            raise refused
        return views

    async def _rows(self, shelf: Shelf) -> Sequence[Memory]:
        server, users = (None, (shelf.owner_id,)) if shelf.is_personal else (shelf.owner_id, ())
        return await self._desk.writing.repository.block(server, users, shelf.lineage_id)

    async def _nearest(self, seen: View, text: str) -> View:
        shown = [(memory, shown_text(memory, seen.names)) for memory in seen.memories]
        found = await self._desk.finder.find(text, shown, seen.names.accounts)
        return View([memory for memory, _ in found[:NEAREST]], seen.names)

    async def _told(self, call: Invocation, seen: View) -> list[str]:
        """Return the lines of memories, each with where it comes from, and write down that they were read."""
        lines = await self._shown(call, seen)
        origins = [await self._show.origin(call, memory, seen.names) for memory in seen.memories]
        return [each for pair in zip(lines, origins, strict=True) for each in pair if each]

    async def _shown(self, call: Invocation, seen: View) -> list[str]:
        await record(self._desk, call, Act.READ, seen.memories)
        shown_versions(self._desk, call, seen.memories)
        return await self._show.lines(call, seen)


def only(seen: View, ids: frozenset[int]) -> View:
    """Return those of some memories that have one of these ids."""
    return View([memory for memory in seen.memories if memory.memory_id in ids], seen.names)


def _is_about(memory: Memory, account: Account) -> bool:
    if memory.subject_user_id is not None and memory.subject_user_id == account.user_id:
        return True
    return memory.subject_account_id == account.account_id
