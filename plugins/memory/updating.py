"""`update_long_term_memory`: replaces or, with empty content, deletes one memory (memory.md, Updating and deleting)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, assert_never

from agent.contracts.memory import MemoryScope, MemoryWrite, Origin, WriteKind
from agent.contracts.people import GLOBAL_LINEAGE
from agent.identity.directory import Scope
from agent.tools import ToolResult
from plugins.memory.amending import amend, delete
from plugins.memory.cards import WITHHELD, deleted_card, updated_card
from plugins.memory.content import Accepted, Empty, TooLong, accept, mentions_user, with_labels
from plugins.memory.creating import hidden_from, source_of, wording_of
from plugins.memory.reading import here_of, may_be_shown
from plugins.memory.repository import Actor, Edit
from plugins.memory.rules import admits, readers_of
from plugins.memory.status import Status, refused_update
from plugins.memory.targets import Target, server_target, target_of_update, with_speaker

if TYPE_CHECKING:
    from agent.tools import Connection, Json, ToolContext
    from plugins.memory.memory import Memory
    from plugins.memory.parameters import UpdateParameters
    from plugins.memory.toolbox import Toolbox

# One answer for an unknown id and for somebody else's, so that nothing can be learned by asking.
NOT_FOUND: Final = ToolResult(
    Status.UPDATE_NOT_FOUND, {"note": "There is no such memory here. Use an ID that stands in your memories."}
)


@dataclass(frozen=True, slots=True)
class _Change:
    """One call, once it is known whose memory it is about."""

    toolbox: Toolbox
    context: ToolContext
    memory_id: int
    target: Target

    @property
    def owner_id(self) -> int:
        """Return the row that owns the memory."""
        if self.target.user_id is not None:
            return self.target.user_id
        return self.context.place.server.server_id

    async def read(self, conn: Connection | None = None) -> Memory | None:
        """Return the memory, if it is this owner's, of this lineage, and everyone here may know it."""
        memory = await self.toolbox.writing.repository.read(
            self.target.scope, self.memory_id, self.owner_id, self.context.persona.lineage_id, conn
        )
        readers = readers_of(self.context.participants, self.context.account.user_id)
        return memory if memory is not None and admits(memory, self.context.place, readers) else None

    def write(self, memory: Memory, kind: WriteKind, content: str, subject: Target) -> MemoryWrite:
        """Return the change as guards and locks see it."""
        return MemoryWrite(
            kind=kind,
            scope=memory.scope,
            server_id=self.context.place.server.server_id,
            user_id=self.target.user_id,
            lineage_id=memory.lineage_id,
            content=content,
            audience=memory.audience,
            origin=Origin.MODEL,
            source=source_of(self.context),
            subject_account_id=subject.subject_account_id,
            subject_user_id=subject.subject_user_id,
            about_proxy_identity=subject.proxied,
            host_account_ids=subject.host_account_ids,
        )

    @property
    def actor(self) -> Actor:
        """Return who changes it."""
        return Actor(self.context.account.account_id, self.context.turn_id, self.context.tool_name or None)


async def update(toolbox: Toolbox, context: ToolContext, given: UpdateParameters) -> ToolResult:
    """Replace or delete a memory that the model has seen."""
    deletes = not given.memory_content.strip()
    if not deletes and not await toolbox.teaches_itself(context.place.server.server_id):
        return ToolResult(Status.UPDATE_DISABLED, {"note": "This server lets you delete memories, not change them."})
    target: Target | ToolResult = server_target(context)
    if name := (given.target_user or "").strip():
        target = target_of_update(await toolbox.resolver.resolve(name, Scope.of(context)))
    if isinstance(target, ToolResult):
        return target
    if context.persona.lineage_id == GLOBAL_LINEAGE:
        return ToolResult(Status.UPDATE_INVALID_LINEAGE, {"note": "Lineage 0 is reserved for global memories."})
    change = _Change(toolbox, context, given.memory_id, target)
    if deletes:
        return await _delete(change)
    return await _replace(change, given.memory_content)


async def _delete(change: _Change) -> ToolResult:
    memory = await change.read()
    if memory is None:
        return NOT_FOUND
    subject, writing = _subject_of(memory, change.target), change.toolbox.writing
    wording = wording_of(subject, change.context, change.toolbox.locale)
    shown = WITHHELD

    def result() -> ToolResult:
        told = wording.shown(shown)
        return ToolResult(Status.DELETED, {"memory_id": memory.memory_id, "content_forgotten": told})

    async def bind(conn: Connection, forgotten: str) -> None:
        nonlocal shown
        is_shown = await may_be_shown(conn, writing.repository, writing.guards, memory, here_of(change.context))
        shown = forgotten if is_shown else WITHHELD
        await change.context.effect(conn, result(), (deleted_card(memory, shown, wording),))

    write = change.write(memory, WriteKind.DELETE, "", subject)
    forgotten = await delete(writing, write, memory, change.actor, bind)
    return NOT_FOUND if forgotten is None else result()


async def _replace(change: _Change, raw: str) -> ToolResult:
    limit = change.toolbox.writing.settings.max_memory_length
    match accept(with_labels(raw, change.context.participants), limit):
        case Accepted(content):
            return await _replace_content(change, content)
        case Empty():
            note = "Nothing is left of memory_content once what may not be kept is taken out; empty content deletes."
            return ToolResult(Status.UPDATE_INVALID_PARAMETERS, {"note": note})
        case TooLong(length, most):
            return ToolResult(Status.UPDATE_TOO_LONG, {"length": length, "limit": most})
        case unknown:
            assert_never(unknown)


async def _replace_content(change: _Change, content: str) -> ToolResult:
    memory = await change.read()
    if memory is None:
        return NOT_FOUND
    toolbox, context = change.toolbox, change.context
    subject = _subject_of(memory, change.target)
    if mentions_user(content):
        subject = with_speaker(subject, context)
    result = ToolResult(Status.UPDATED, {"memory_id": memory.memory_id})
    wording = replace(wording_of(subject, context, toolbox.locale), hidden=await hidden_from(toolbox, context, subject))

    async def apply(conn: Connection, present: Memory) -> int | None:
        edit = Edit(content, present.version, subject.subject_account_id, subject.subject_user_id)
        version = await toolbox.writing.repository.edit(conn, present, edit, change.actor, toolbox.writing.clock.now())
        if version is not None:
            await context.effect(conn, result, (updated_card(present, content, wording),))
        return version

    seen = toolbox.seen.version(context.turn_id, memory)
    write = change.write(memory, WriteKind.UPDATE, content, subject)
    amended = await amend(toolbox.writing, write, seen, change.read, apply)
    if amended.denial is not None:
        return ToolResult(refused_update(amended.denial.code), {"note": amended.denial.text})
    if amended.present is None:
        return NOT_FOUND
    toolbox.seen.note(context.turn_id, amended.present, amended.version)
    if amended.is_conflict:
        return await _conflict(change, amended.present)
    return result


async def _conflict(change: _Change, present: Memory) -> ToolResult:
    """Return what a memory says now that somebody else has changed it, if that may be shown here."""
    writing, context = change.toolbox.writing, change.context
    async with writing.store.connection() as conn:
        if not await may_be_shown(conn, writing.repository, writing.guards, present, here_of(context)):
            return NOT_FOUND
    note = "Somebody has changed this memory in the meantime: decide again on what it says now."
    wording = wording_of(_subject_of(present, change.target), context, change.toolbox.locale)
    told: dict[str, Json] = {"memory_id": present.memory_id, "content": wording.shown(present.content), "note": note}
    return ToolResult(Status.UPDATE_CONFLICT, told)


def _subject_of(memory: Memory, target: Target) -> Target:
    """Return whom a memory is about, so that guards are asked about that person."""
    if memory.scope is MemoryScope.PERSONAL:
        return target
    return Target(
        memory.scope,
        target.about,
        subject_account_id=memory.subject_account_id,
        subject_user_id=memory.subject_user_id,
        proxied=memory.subject_account_id is None and memory.subject_user_id is not None,
    )
