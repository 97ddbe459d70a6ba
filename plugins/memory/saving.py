"""One path for every save, whoever asks: guards, lineage, then lock, guards again and row in one transaction."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, assert_never

from agent import metrics
from agent.contracts.memory import MemoryScope, MemoryWrite, Origin
from agent.contracts.people import GLOBAL_LINEAGE
from agent.store.owner_locks import OwnerLocks
from agent.tools import ToolResult
from agent.turn.values import server_owner, user_owner
from plugins.memory.cards import WITHHELD, Wording, saved_cards
from plugins.memory.reading import may_be_shown
from plugins.memory.repository import Added, MemoryRepository, Outcome, Room
from plugins.memory.status import Status, refused_save

if TYPE_CHECKING:
    from datetime import datetime

    from agent.clock import Clock
    from agent.contracts.cards import Card
    from agent.privacy.guards import MemoryGuards
    from agent.store.pool import Store
    from agent.tools import Connection, Effect, Json
    from plugins.memory.memory import Memory
    from plugins.memory.reading import Here
    from plugins.memory.settings import MemorySettings

metrics.declare("memory_eviction", "counter", ("scope", "decay_days"), "Memories that gave way to a new one.")


class Announces(Protocol):
    """What tells this process and the others that an owner's state has changed (`agent.invalidation`)."""

    def announce(self, *owners: str) -> None:
        """Drop what is cached of these owners, and have the other processes told; called after the commit."""
        ...


@dataclass(frozen=True, slots=True)
class Request:
    """A save that is to be carried out."""

    write: MemoryWrite
    wording: Wording
    """How the cards speak of it."""
    extra: dict[str, Json] = field(default_factory=dict)
    """What the result says beyond status and ids."""
    here: Here | None = None
    """Where the result is read; None for another plugin, which shows it to nobody."""
    shown: Memory | None = None
    """What the turn was reminded of and now saves again: as long as it stands as it was shown, nothing is added."""


async def _never() -> bool:
    return False


def _nobody(_: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class Writing:
    """What saving, updating and deleting share."""

    store: Store
    repository: MemoryRepository
    guards: MemoryGuards
    revisions: Announces
    clock: Clock
    settings: MemorySettings
    locks: OwnerLocks = field(default_factory=OwnerLocks)
    """One lock an owner before the connection is taken, so that a hot owner does not drain the pool."""
    can_recall: Callable[[], Awaitable[bool]] = _never
    """Tells whether retrieval is available: without it nothing is evicted, because nothing could be called back."""
    wake: Callable[[int], None] = _nobody
    """Called after the commit with the id of a memory that is new or says something else: it is to be embedded."""

    def committed(self, owner: str, memory_id: int | None = None) -> None:
        """Say, after a commit, that an owner's state has changed, and which memory says something new."""
        self.revisions.announce(owner)
        if memory_id is not None:
            self.wake(memory_id)


def owner_of(write: MemoryWrite) -> str:
    """Return the key of the owner in `owner_revisions`.

    Raises:
        ValueError: the write names no owner of its scope.
    """
    if write.scope is MemoryScope.SERVER and write.server_id is not None:
        return server_owner(write.server_id)
    if write.scope is MemoryScope.PERSONAL and write.user_id is not None:
        return user_owner(write.user_id)
    raise ValueError(f"a write of scope {write.scope} names no owner: set server_id or user_id")


def may_use_lineage(write: MemoryWrite) -> bool:
    """Tell whether the lineage is allowed: 0 holds global personal memories, and the model writes none."""
    if write.lineage_id == GLOBAL_LINEAGE:
        return write.scope is MemoryScope.PERSONAL and write.origin is not Origin.MODEL
    return write.lineage_id > GLOBAL_LINEAGE


async def save(writing: Writing, request: Request, effect: Effect | None = None) -> ToolResult:
    """Carry out a save whose content is accepted; return its result (memory.md, Writing, steps 4 to 7).

    `effect` binds the result and the cards to the turn, in the same transaction.

    Raises:
        TurnLost: the turn is no longer this worker's; nothing was kept.
    """
    write = request.write
    if (denial := await writing.guards.check_write(write)) is not None:
        return ToolResult(refused_save(denial.code), {"note": denial.text})
    if not may_use_lineage(write):
        return ToolResult(Status.SAVE_INVALID_LINEAGE, {"note": "Lineage 0 is reserved for global memories."})
    owner, room = owner_of(write), await room_of(writing, write.scope)
    async with writing.locks.hold(owner):
        try:
            result, added = await _transaction(writing, request, room, effect, tells=False)
        except _Untold:  # once a person; the locks of that are stronger, and must be the first
            result, added = await _transaction(writing, request, room, effect, tells=True)
    if added is not None:
        if added.outcome is Outcome.EVICTED:
            metrics.emit("memory_eviction", scope=str(write.scope), decay_days=writing.settings.decay.days)
        writing.committed(owner, None if added.outcome is Outcome.KNOWN else added.memory_id)
    return result


class _Untold(Exception):
    """Somebody is to be told that the agent remembers: the transaction must be run again with other locks."""


async def _transaction(
    writing: Writing, request: Request, room: Room, effect: Effect | None, *, tells: bool
) -> tuple[ToolResult, Added | None]:
    """Lock, ask the guards again, add and bind to the turn; None where nothing has changed.

    Raises:
        _Untold: the subject was never told, and `tells` is false; nothing was kept.
    """
    write, repository = request.write, writing.repository
    async with writing.store.transaction() as conn:
        if tells:
            await repository.lock_to_tell(conn, write)
        if (denial := await writing.guards.recheck(conn, write)) is not None:
            return ToolResult(refused_save(denial.code), {"note": denial.text}), None
        now = writing.clock.now()
        added = await _showing(writing, conn, request, await _add(writing, conn, request, room, now))
        result = _result(added, request, room.cap)
        if added.outcome is Outcome.FULL:
            return result, None
        if effect is not None:
            untold = added.untold and added.outcome is not Outcome.KNOWN
            if untold and not tells:
                raise _Untold
            await effect(conn, result, await _cards(writing, conn, request, added, now, untold=untold))
        return result, added


async def _add(writing: Writing, conn: Connection, request: Request, room: Room, now: datetime) -> Added:
    """Reinforce what the turn was shown in these words, whatever its lineage, audience or channels; else add."""
    shown = request.shown
    if shown is not None and await writing.repository.reinforce(conn, shown, request.write.source.turn_id, now):
        return Added(Outcome.KNOWN, shown.memory_id)
    return await writing.repository.add(conn, request.write, room, now)


async def _showing(writing: Writing, conn: Connection, request: Request, added: Added) -> Added:
    """Return what was added, without the text of what gave way where that may not be shown."""
    if added.forgotten_id is None or request.here is None:
        return added
    gone = await writing.repository.read_forgotten(conn, added.forgotten_id)
    added = replace(added, forgotten=gone)
    if gone is not None and await may_be_shown(conn, writing.repository, writing.guards, gone, request.here):
        return added
    return replace(added, forgotten_content=WITHHELD)


async def _cards(
    writing: Writing, conn: Connection, request: Request, added: Added, now: datetime, *, untold: bool
) -> tuple[Card, ...]:
    """Return the cards of a save; a person who is told now is not told again."""
    if added.outcome is Outcome.KNOWN:
        return ()
    subject = request.write.subject_account_id
    if untold and subject is not None:
        await writing.repository.set_told(conn, subject, now)
    return saved_cards(request.write, added, request.wording, untold=untold)


async def room_of(writing: Writing, scope: MemoryScope) -> Room:
    """Return how much room an owner has, and whether an old memory may give way now."""
    settings = writing.settings
    cap = settings.max_server_memories if scope is MemoryScope.SERVER else settings.max_personal_memories
    may_evict = settings.decay.enabled and await writing.can_recall()
    return Room(cap, may_evict, settings.decay.days)


def _result(added: Added, request: Request, cap: int) -> ToolResult:
    match added.outcome:
        case Outcome.SAVED:
            return ToolResult(Status.SAVED, {"memory_id": added.memory_id, **request.extra})
        case Outcome.EVICTED:
            forgotten: dict[str, Json] = {"content_forgotten": request.wording.shown_forgotten(added)}
            return ToolResult(Status.SAVED_WITH_EVICTION, {"memory_id": added.memory_id, **forgotten, **request.extra})
        case Outcome.KNOWN:
            return ToolResult(Status.ALREADY_KNOWN, {"memory_id": added.memory_id, **request.extra})
        case Outcome.FULL:
            note = "Every place is taken. Update or delete a memory that matters less, then save again."
            return ToolResult(Status.SAVE_LIMIT_EXCEEDED, {"limit": cap, "note": note})
        case unknown:
            assert_never(unknown)
