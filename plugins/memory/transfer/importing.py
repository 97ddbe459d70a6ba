"""Taking over a file of memories: everything is checked, then everything is written in one transaction."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, assert_never

from agent import metrics
from agent.contracts.memory import MemoryScope, MemoryWrite
from agent.privacy.audit import Act, Look
from agent.privacy.check import consulted_accounts, consulted_users
from agent.turn.values import server_owner, user_owner
from plugins.memory.repository import Added, Outcome, Room
from plugins.memory.saving import room_of
from plugins.memory.transfer.entries import ImportRefused
from plugins.memory.transfer.outcome import Became, Imported, Line
from plugins.memory.transfer.planning import UNDATED, Fault, Known, Planned, Target, plan
from plugins.memory.transfer.repository import Locked

if TYPE_CHECKING:
    from agent.privacy.audit import Audit
    from agent.tools import Connection
    from plugins.memory.saving import Writing
    from plugins.memory.transfer.entries import Parsed
    from plugins.memory.transfer.repository import TransferRepository

_SHOWN: Final = 5

type _Subject = tuple[int | None, int | None]
"""The account and the user whom a memory is about."""


@dataclass(frozen=True, slots=True)
class How:
    """How to import."""

    replaces: bool = False
    """Whether what an export would hold is removed first; then there must be room for all of the file."""
    tries: bool = False
    """Whether nothing is kept in the end: for a report beforehand."""
    narrow: bool = False
    """Whether a replacement also removes what only some members of the server may read."""
    importer_account_id: int | None = None
    """Who imports; None for operators."""
    via: str = "isthmus memory import"
    """The command, as the audit trail says it."""


class _Undone(Exception):
    """The transaction is to be rolled back, and its report given."""


@dataclass(slots=True)
class _Run:
    """One import inside its transaction."""

    how: How
    target: Target
    now: datetime
    author: int | None = None
    removed: int = 0
    lines: list[Line] = field(default_factory=list)
    about: Counter[_Subject] = field(default_factory=Counter)
    """How many new memories are about whom."""
    fresh: dict[MemoryScope, dict[int, datetime | None]] = field(default_factory=dict)
    """The new memories, and the age that the file says."""


class Importer:
    """Imports files, through the guards, caps and near-duplicate rules of every write."""

    def __init__(self, writing: Writing, transfers: TransferRepository, audit: Audit) -> None:
        self._audit = audit
        self._writing = writing
        self._transfers = transfers

    async def run(self, parsed: Parsed, target: Target, how: How) -> Imported:
        """Import a file.

        Raises:
            ImportRefused: something in the file is wrong; nothing was written.
        """
        began = self._writing.clock.now()
        planned = [await self._asked(each) for each in await self._plan(parsed, target, began)]
        planned.sort(key=lambda each: each.entry.number)
        owners = _owners(planned, target)
        rooms = {scope: await self._room(scope, how) for scope in MemoryScope}
        run = _Run(how, target, began)
        written = False
        async with self._writing.locks.hold(*owners):
            with contextlib.suppress(_Undone):
                async with self._writing.store.transaction() as conn:
                    await self._write(conn, planned, run, rooms)
                    if how.tries or (how.replaces and not _replaces_soundly(run.lines)):
                        raise _Undone
                written = True
        if written:
            self._committed(run, owners)
        lines = run.lines if written else _undone(run)
        return Imported(parsed.source, lines, parsed.notes, run.removed, written)

    async def _plan(self, parsed: Parsed, target: Target, now: datetime) -> list[Planned]:
        """Check every entry.

        Raises:
            ImportRefused: a line each for what is wrong.
        """
        if refused := _unwanted(parsed, target):
            raise ImportRefused(*refused)
        people = [entry.person for entry in parsed.entries if entry.person is not None]
        spots = [entry.spot for entry in parsed.entries if entry.spot is not None]
        known = Known(await self._transfers.accounts(people), await self._transfers.servers(spots))
        limit = self._writing.settings.max_memory_length
        return await asyncio.to_thread(_planned, parsed, target, known, limit, now)

    async def _asked(self, planned: Planned) -> Planned:
        """Ask the guards, outside of any transaction."""
        if planned.write is None:
            return planned
        denial = await self._writing.guards.check_write(planned.write)
        return planned if denial is None else replace(planned, write=None, reason=denial.text)

    async def _room(self, scope: MemoryScope, how: How) -> Room:
        room = await room_of(self._writing, scope)
        return replace(room, may_evict=False) if how.replaces else room

    async def _write(
        self, conn: Connection, planned: Sequence[Planned], run: _Run, rooms: dict[MemoryScope, Room]
    ) -> None:
        """Lock, clear where it is a replacement, and add one entry after the other."""
        writes = [each.write for each in planned if each.write is not None]
        await self._transfers.lock(conn, _locked(writes, run.target, run.how))
        importer = run.how.importer_account_id
        if importer is not None and await self._transfers.may_be_named(conn, importer, run.now):
            run.author = importer
        run.now = self._writing.clock.now()
        if run.how.replaces:
            await self._clear(conn, run, {write.scope for write in writes})
        for each in planned:
            run.lines.append(await self._add(conn, each, run, rooms[each.entry.scope]))
        await self._record(conn, run, Act.EDITED, run.about)
        for scope, moments in run.fresh.items():
            dated = {key: moment for key, moment in moments.items() if moment is not None}
            await self._transfers.date(conn, scope, dated, run.now)

    async def _clear(self, conn: Connection, run: _Run, scopes: set[MemoryScope]) -> None:
        """Remove what is replaced: of the kinds that the file holds, in every lineage unless one was asked for."""
        lineage_id = run.target.lineage_id if run.target.forced else None
        owners = {MemoryScope.SERVER: run.target.server_id, MemoryScope.PERSONAL: run.target.user_id}
        for scope in sorted(scopes):
            owner_id = owners[scope]
            if owner_id is None:
                continue
            narrow = run.how.narrow or scope is MemoryScope.PERSONAL
            removed = await self._transfers.clear(
                conn, scope, owner_id, lineage_id, narrow=narrow, actor=run.author, now=run.now
            )
            run.removed += sum(removed.values())
            await self._record(conn, run, Act.DELETED, removed)

    async def _record(self, conn: Connection, run: _Run, act: Act, about: Mapping[_Subject, int]) -> None:
        """Write down, for those whom the memories are about, that they were changed."""
        looks = [
            Look(act, run.how.via, run.author, run.target.server_id, account_id, user_id, items)
            for (account_id, user_id), items in about.items()
            if account_id is not None or user_id is not None
        ]
        await self._audit.record(looks, run.now, conn)

    async def _add(self, conn: Connection, planned: Planned, run: _Run, room: Room) -> Line:
        entry, write = planned.entry, planned.write
        if write is None:
            return Line(entry, Became.REFUSED, reason=planned.reason)
        if (denial := await self._writing.guards.recheck(conn, write)) is not None:
            return Line(entry, Became.REFUSED, reason=denial.text)
        if write.scope is MemoryScope.SERVER:
            held = await self._transfers.find_scoped(conn, write)
            if held is not None:
                return Line(entry, Became.KNOWN, held)
        # Whoever imports has not said it: guards are not asked about their past, but it is their deed.
        named = replace(write, source=replace(write.source, author_account_id=run.author))
        added = await self._writing.repository.add(conn, named, room, run.now)
        if added.outcome in {Outcome.SAVED, Outcome.EVICTED} and added.memory_id is not None:
            moment = None if write.source.occurred_at == UNDATED else write.source.occurred_at
            run.about[write.subject_account_id, write.subject_user_id] += 1
            run.fresh.setdefault(write.scope, {})[added.memory_id] = moment
        return _line(planned, added, room.cap)

    def _committed(self, run: _Run, owners: Sequence[str]) -> None:
        """Invalidate, have the new ones embedded, and count what gave way."""
        if owners:
            self._writing.revisions.announce(*owners)
        for moments in run.fresh.values():
            for memory_id in moments:
                self._writing.wake(memory_id)
        days = self._writing.settings.decay.days
        for line in run.lines:
            if line.became is Became.EVICTED:
                metrics.emit("memory_eviction", scope=str(line.entry.scope), decay_days=days)


def _planned(parsed: Parsed, target: Target, known: Known, limit: int, now: datetime) -> list[Planned]:
    """Return what is to be written of each entry; pure, and long enough for a thread.

    Raises:
        ImportRefused: a line each for what is wrong.
    """
    planned: list[Planned] = []
    faults: list[str] = []
    for entry in parsed.entries:
        try:
            planned.append(plan(entry, target, known, limit, now))
        except Fault as fault:
            faults.append(f"entry {entry.number} ({entry.where}): {fault}")
    if faults:
        raise ImportRefused(*faults)
    return planned


def _undone(run: _Run) -> list[Line]:
    """Return the report of what was rolled back: without the ids that nothing has."""
    made = frozenset(memory_id for moments in run.fresh.values() for memory_id in moments)
    return [replace(line, memory_id=None) if line.memory_id in made else line for line in run.lines]


def _replaces_soundly(lines: Sequence[Line]) -> bool:
    """Tell whether there was room for everything, and anything at all could be kept."""
    kept = any(line.became in {Became.SAVED, Became.KNOWN} for line in lines)
    return kept and all(line.became is not Became.FULL for line in lines)


def _unwanted(parsed: Parsed, target: Target) -> list[str]:
    """Say what the file holds that this import is not for."""
    lines: list[str] = []
    counts = {scope: sum(entry.scope is scope for entry in parsed.entries) for scope in MemoryScope}
    if counts[MemoryScope.SERVER] and not target.takes_server:
        lines.append(
            f"the file holds {counts[MemoryScope.SERVER]} server memories: those who manage a server import them there "
            "(/memories import, isthmus memory import --server SERVER)"
        )
    if counts[MemoryScope.PERSONAL] and target.user_id is None:
        lines.append(
            f"the file holds {counts[MemoryScope.PERSONAL]} personal memories: each person imports their own "
            "(/personal memories import), or an operator does (isthmus memory import --user USER)"
        )
    foreign = {
        entry.person.external_id
        for entry in parsed.entries
        if entry.scope is MemoryScope.PERSONAL and entry.person is not None and entry.person.platform is None
    }
    if len(foreign) > 1:
        shown = ", ".join(repr(each) for each in sorted(foreign)[:_SHOWN])
        lines.append(f"the file holds memories of {len(foreign)} users ({shown}): make one file of each user")
    return lines


def _owners(planned: Sequence[Planned], target: Target) -> list[str]:
    """Return the owners whose memories may change."""
    scopes = {each.entry.scope for each in planned if each.write is not None}
    owners: list[str] = []
    if MemoryScope.SERVER in scopes and target.server_id is not None:
        owners.append(server_owner(target.server_id))
    if MemoryScope.PERSONAL in scopes and target.user_id is not None:
        owners.append(user_owner(target.user_id))
    return owners


def _locked(writes: Sequence[MemoryWrite], target: Target, how: How) -> Locked:
    accounts = {account for write in writes for account in consulted_accounts(write)}
    if how.importer_account_id is not None:
        accounts.add(how.importer_account_id)
    users = {user for write in writes for user in consulted_users(write)}
    if target.user_id is not None:
        users.add(target.user_id)
    return Locked(accounts, users, target.server_id, target.takes_server, target.user_id)


def _line(planned: Planned, added: Added, cap: int) -> Line:
    match added.outcome:
        case Outcome.SAVED:
            return Line(planned.entry, Became.SAVED, added.memory_id)
        case Outcome.EVICTED:
            return Line(planned.entry, Became.EVICTED, added.memory_id, forgotten_id=added.forgotten_id)
        case Outcome.KNOWN:
            return Line(planned.entry, Became.KNOWN, added.memory_id)
        case Outcome.FULL:
            return Line(planned.entry, Became.FULL, reason=f"every one of the {cap} places is taken")
        case unknown:
            assert_never(unknown)
