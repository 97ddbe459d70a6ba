"""What bridges tell of members, channels and servers, written down so that a restart knows its people."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import batched
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

from asyncpg import Record

from agent import logs
from agent.directory_changes import (
    ChannelChanged,
    ChannelRemoved,
    DirectoryChange,
    Member,
    MemberLeft,
    MembersSeen,
    ServerJoined,
    ServerLeft,
)
from agent.identity.keys import ParticipantKind
from agent.identity.names import NameSource, label, normalise
from agent.identity.people import check_id, checked_channel, checked_server, people_owner
from agent.store.queries import load_queries
from agent.turn.values import server_owner

if TYPE_CHECKING:
    from agent.clock import Clock
    from agent.invalidation import Invalidation
    from agent.places import ServerRef
    from agent.store.pool import Store

QUERIES = load_queries(__name__, "arrivals.sql")
BATCH: Final = 500
"""Members in one statement; preparing them takes the event loop some milliseconds."""
KEPT: Final = timedelta(days=30)
"""How long what is kept of a server outlasts the agent's being there."""
PATIENCE: Final = 30.0
"""Seconds that a change waits for a database that is away."""
_OWNING: Final = tuple(kind.value for kind in ParticipantKind if kind.owns_memories)

log = logs.get_logger(__name__)


class Arrivals:
    """Takes directory changes: idempotent, in order within a server, writing only what is new."""

    def __init__(self, store: Store, revisions: Invalidation, clock: Clock) -> None:
        self._store = store
        self._revisions = revisions
        self._clock = clock
        self._order: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    async def observe(self, change: DirectoryChange) -> None:
        """Write a change down; returns when it is committed.

        Raises:
            ValueError: an id of a server or channel is no id. A member with such an id is left out.
            StoreError: the database stayed away; the bridge may tell it again.
        """
        server = checked_server(change.server)
        key = (server.platform, server.external_id)
        lock = self._order.get(key)
        if lock is None:
            lock = self._order[key] = asyncio.Lock()
        async with lock:
            await self._take(change, server)

    async def purge(self) -> int:
        """Remove servers that the agent left 30 days ago, with everything of theirs; return how many."""
        async with self._store.transaction() as conn:
            gone = [row["server_id"] for row in await conn.fetch(QUERIES["purge"], self._clock.now())]
            owners = [*map(server_owner, gone), *map(people_owner, gone)]
            if gone:
                await conn.execute(QUERIES["forget_changes"], gone)
                await conn.execute(QUERIES["forget_revisions"], owners)
        if gone:
            self._revisions.announce(*owners)
            log.info("servers_purged", count=len(gone))
        return len(gone)

    async def _take(self, change: DirectoryChange, server: ServerRef) -> None:
        place = (server.platform, server.external_id)
        match change:
            case MembersSeen():
                await self._see(change, server)
            case MemberLeft(key=key):
                await self._run("leave", *place, [key.kind.value], [key.id])
            case ChannelChanged(channel=channel):
                ref = checked_channel(channel)
                await self._run(
                    "change_channel", server.platform, ref.external_id, ref.name, ref.visibility,
                    ref.parent_external_id, ref.parent_name,
                )  # fmt: skip
                await self._run("change_parent", server.platform, ref.external_id, ref.name)
            case ChannelRemoved(external_id=external_id):
                check_id("channel", external_id)
                await self._run("remove_channel", server.platform, external_id)
            case ServerJoined():
                await self._run("join_server", *place, server.kind, server.name, self._clock.now())
            case ServerLeft():
                await self._run("leave_server", *place, self._clock.now() + KEPT)

    async def _see(self, seen: MembersSeen, server: ServerRef) -> None:
        now = self._clock.now()
        place = (server.platform, server.external_id)
        await self._run("join_server", *place, server.kind, server.name, now)
        known = {member.key: member for member in seen.members if _has_id(member)}
        if len(known) < len(seen.members):
            log.debug("members_left_out", count=len(seen.members) - len(known))
        people = [member for member in known.values() if not member.is_bot]
        for batch in batched(people, BATCH):
            await self._see_batch(server, batch, now)
        if seen.is_complete and people:
            kinds = sorted({member.kind.value for member in people})
            await self._run("leave_but", *place, *_keys(people), kinds)
        elif len(people) < len(known):
            await self._run("leave", *place, *_keys([member for member in known.values() if member.is_bot]))

    async def _see_batch(self, server: ServerRef, members: Sequence[Member], now: datetime) -> None:
        shown = [label(member.display_name, member.key) for member in members]
        others = [_optional(member, member.global_name) for member in members]
        usernames = [_optional(member, member.username) for member in members]
        rows = await self._run(
            "unlike", server.platform, server.external_id, _OWNING, *_keys(members), shown, others, usernames
        )
        unlike = [row["position"] - 1 for row in rows]
        if not unlike:
            return
        names = [
            (members[each], source, value)
            for each in unlike
            for source, value in _sources(shown[each], others[each], usernames[each])
        ]
        await self._run(
            "see", server.platform, server.external_id, server.kind, server.name, _OWNING,
            *_keys([member for member, _, _ in names]), [source.value for _, source, _ in names],
            [value for _, _, value in names],
            [None if value is None else normalise(value) for _, _, value in names], now,
        )  # fmt: skip

    async def _run(self, query: str, *arguments: object) -> Sequence[Record]:
        async def run() -> Sequence[Record]:
            async with self._store.connection() as conn:
                return await conn.fetch(QUERIES[query], *arguments)

        return await self._store.retrying(run, patience=PATIENCE)


def _has_id(member: Member) -> bool:
    try:
        check_id("member", member.external_id)
    except ValueError:
        return False
    return True


def _keys(members: Sequence[Member]) -> tuple[list[str], list[str]]:
    return [member.kind.value for member in members], [member.external_id for member in members]


def _optional(member: Member, name: str | None) -> str | None:
    return label(name, member.key) if name else None


def _sources(shown: str, other: str | None, username: str | None) -> Iterator[tuple[NameSource, str | None]]:
    """Yield the names that are to be written; a global name without a value is to be removed."""
    yield NameSource.GUILD, shown
    yield NameSource.GLOBAL, other
    if username is not None:
        yield NameSource.USERNAME, username
