"""When the source goes: what the model made of a message that is deleted within a day goes with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agent.catalog import translate
from agent.contracts.cards import Card, CardKind
from agent.contracts.memory import MemoryScope, MemorySource, MemoryWrite, Origin, WriteKind
from agent.store.notices import WITHDRAWN, withdraw_notices
from agent.store.queries import load_queries
from plugins.memory.cards import subjects_of
from plugins.memory.memory import memory_from_row
from plugins.memory.repository import Actor
from plugins.memory.rules import UNDO_KEPT
from plugins.memory.saving import owner_of

if TYPE_CHECKING:
    from datetime import datetime

    from agent.events import MessageDeleted
    from plugins.memory.memory import Memory
    from plugins.memory.saving import Writing

QUERIES = load_queries("plugins.memory", "source.sql")
GONE: Final = Actor(None, None, "message_deleted")


async def forget_source(writing: Writing, event: MessageDeleted, locale: str) -> tuple[Card, ...]:
    """Delete the unprotected, model-made memories of a message, for good; return cards that do not repeat them."""
    now = writing.clock.now()
    since = min(event.occurred_at, now) - UNDO_KEPT  # it may be told long after, when the agent was away
    values = (event.platform, event.server.external_id, event.channel.external_id, event.message_id, since)
    async with writing.store.connection() as conn:
        rows = [
            *await conn.fetch(QUERIES["server_memories_of_message"], *values),
            *await conn.fetch(QUERIES["personal_memories_of_message"], *values),
        ]
    memories = [memory_from_row(row) for row in rows]
    return tuple([_card(memory, locale) for memory in memories if await _forget(writing, memory, now)])


async def _forget(writing: Writing, memory: Memory, now: datetime) -> bool:
    """Delete one memory without an undo copy, unless it is gone, or somebody has made it their own meanwhile.

    The notices that repeat it are withdrawn.
    """
    write = _deletion(memory, now)
    async with writing.locks.hold(owner_of(write)), writing.store.transaction() as conn:
        await writing.guards.recheck(conn, write)  # takes the locks; a deletion is never refused
        if await conn.fetchval(QUERIES["is_protected"], memory.memory_id) is not False:
            return False
        await writing.repository.remove(conn, memory, GONE, now)
        await conn.execute(QUERIES["drop_copy"], memory.memory_id)
        await withdraw_notices(conn, now, memories=[memory.memory_id])
    writing.committed(owner_of(write))
    writing.revisions.announce(WITHDRAWN)
    return True


def _deletion(memory: Memory, now: datetime) -> MemoryWrite:
    is_server = memory.scope is MemoryScope.SERVER
    source = MemorySource(
        memory.source_platform, memory.source_server_id, memory.source_channel_id, None, None, GONE.tool, None, now
    )
    return MemoryWrite(
        kind=WriteKind.DELETE,
        scope=memory.scope,
        server_id=memory.owner_id if is_server else memory.source_server_id,
        user_id=None if is_server else memory.owner_id,
        lineage_id=memory.lineage_id,
        content="",
        audience=memory.audience,
        origin=Origin.MODEL,
        source=source,
        subject_account_id=memory.subject_account_id,
        subject_user_id=memory.subject_user_id,
    )


def _card(memory: Memory, locale: str) -> Card:
    text = translate(locale, "The message that it came from was deleted.")
    title = translate(locale, "Memory deleted")
    return Card(
        CardKind.DELETED, title, (text,), memory.memory_id, audience=memory.audience, subjects=subjects_of(memory)
    )
