"""All SQL of the memory plugin: rows in, frozen values out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import asyncpg

from agent.contracts.memory import MemoryScope, MemoryWrite
from agent.privacy.check import PersonFacts, consulted_accounts, consulted_users
from agent.privacy.repository import facts_from
from agent.privacy.traces import end_turns
from agent.search_words import quoted, words_to_keep
from agent.store.notices import withdraw_notices
from agent.store.queries import load_queries
from plugins.memory.content import content_key, mentions_user
from plugins.memory.memory import Memory, memory_from_row
from plugins.memory.rules import nameable

if TYPE_CHECKING:
    from agent.store.pool import Store
    from agent.tools import Connection, Json

QUERIES = load_queries(__name__)


class Outcome(StrEnum):
    """What became of an addition."""

    SAVED = "saved"
    EVICTED = "evicted"
    """Saved, and another memory went for it."""
    KNOWN = "known"
    """A near-duplicate was there, and is reinforced."""
    FULL = "full"
    """Every place is taken and none may be given up: nothing changed."""


@dataclass(frozen=True, slots=True)
class Added:
    """The result of an addition; the texts are untrusted."""

    outcome: Outcome
    memory_id: int | None
    forgotten_id: int | None = None
    forgotten_content: str | None = None
    forgotten_subject: str | None = None
    """Whom the removed memory was about, where its text speaks of that person by `{user}` and they may be named."""
    untold: bool = False
    """The subject was never told that the agent remembers."""
    forgotten: Memory | None = None
    """The removed memory, where somebody is told of it."""


@dataclass(frozen=True, slots=True)
class Room:
    """How many memories an owner may have in a lineage, and whether an old one may give way."""

    cap: int
    may_evict: bool
    decay_days: int


@dataclass(frozen=True, slots=True)
class Actor:
    """Who changes a memory, and in which turn and with which tool."""

    account_id: int | None
    turn_id: str | None
    tool: str | None


@dataclass(frozen=True, slots=True)
class Edit:
    """The new content of a memory, based on one version of it."""

    content: str
    version: int
    subject_account_id: int | None
    subject_user_id: int | None
    manually_written: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """What privacy and blacklist say in this moment about people whom memories are about, and who they are."""

    people: tuple[PersonFacts, ...]
    names: Mapping[int, str]
    """Account id → display name."""
    asleep: frozenset[int] = frozenset()
    """Those of the dormant memories that can be called back by meaning."""
    mentioned: Mapping[str, str] = field(default_factory=dict)
    """Platform id → name of those mentioned who are of this server and may be named."""


@dataclass(frozen=True, slots=True)
class Erased:
    """What an erasure removed, by kind, and the owners whose state changed."""

    counts: dict[str, int]
    owners: tuple[str, ...]


class MemoryRepository:
    """Reads and writes memories.

    What takes `conn` belongs into the caller's transaction, after `MemoryGuards.recheck`, which takes the locks.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    async def lock_to_tell(self, conn: Connection, write: MemoryWrite) -> None:
        """Lock what a write rests on, its accounts for a change, before the guards take the same locks."""
        owner = write.user_id if write.scope is MemoryScope.PERSONAL else None
        accounts, users = consulted_accounts(write), consulted_users(write)
        await conn.execute(QUERIES["lock_to_tell"], accounts, users, owner, write.server_id)

    async def add(self, conn: Connection, write: MemoryWrite, room: Room, now: datetime) -> Added:
        """Add a memory, or reinforce its near-duplicate, with event and revision; `Outcome.FULL` changes nothing."""
        row = await conn.fetchrow(
            QUERIES[f"add_{write.scope}"], _as_json(write), room.cap, room.may_evict, room.decay_days, now
        )
        assert row is not None  # noqa: S101  # the function always returns one row
        forgotten = row["forgotten_content"]
        subject = None
        if forgotten is not None and mentions_user(forgotten):
            subject = await conn.fetchval(QUERIES["forgotten_subject"], row["forgotten_id"], write.server_id)
        return Added(
            Outcome(row["outcome"]),
            row["memory_id"],
            row["forgotten_id"],
            forgotten,
            subject or None,
            bool(row["untold"]),
        )

    async def reinforce(self, conn: Connection, memory: Memory, turn_id: str | None, now: datetime) -> bool:
        """Let a memory count as fresh again, with event and revision, unless it is gone or says something else."""
        reinforced: bool = await conn.fetchval(
            QUERIES[f"reinforce_{memory.scope}"], memory.memory_id, memory.version, turn_id, now
        )
        return reinforced

    async def edit(self, conn: Connection, memory: Memory, edit: Edit, actor: Actor, now: datetime) -> int | None:
        """Replace the content and return the new version; None when the memory is not at the edit's version."""
        version: int | None = await conn.fetchval(
            QUERIES[f"edit_{memory.scope}"],
            memory.memory_id,
            edit.content,
            content_key(edit.content),
            edit.subject_account_id,
            edit.subject_user_id,
            edit.manually_written,
            now,
            edit.version,
            actor.account_id,
            actor.turn_id,
            actor.tool,
            words_to_keep(edit.content),
        )
        return version

    async def remove(self, conn: Connection, memory: Memory, actor: Actor, now: datetime) -> str | None:
        """Remove a memory, keep a copy for undo, and return its text; None when it is gone already."""
        text: str | None = await conn.fetchval(
            QUERIES[f"remove_{memory.scope}"], memory.memory_id, actor.account_id, actor.turn_id, actor.tool, now
        )
        return text

    async def read(
        self, scope: MemoryScope, memory_id: int, owner_id: int, lineage_id: int, conn: Connection | None = None
    ) -> Memory | None:
        """Return the memory of that id if it is this owner's and of this lineage."""
        if conn is None:
            async with self._store.connection() as own:
                return await self.read(scope, memory_id, owner_id, lineage_id, own)
        row = await conn.fetchrow(QUERIES[f"read_{scope}"], memory_id, owner_id, lineage_id)
        return None if row is None else memory_from_row(row)

    async def read_forgotten(self, conn: Connection, memory_id: int) -> Memory | None:
        """Return a memory that was removed in this transaction, or not long ago."""
        row = await conn.fetchrow(QUERIES["read_forgotten"], memory_id)
        return None if row is None else memory_from_row(row)

    async def facts(
        self, conn: Connection, account_ids: Iterable[int], user_ids: Iterable[int], server_id: int
    ) -> tuple[PersonFacts, ...]:
        """Return what counts now for accounts and for users' accounts, linked ones included."""
        rows = await conn.fetch(QUERIES["read_facts"], list(account_ids), list(user_ids), server_id)
        return tuple(facts_from(row) for row in rows)

    async def set_told(self, conn: Connection, account_id: int, now: datetime) -> None:
        """Note that a person was told that the agent remembers, under `lock_to_tell`."""
        await conn.execute(QUERIES["set_told"], account_id, now)

    async def tell_once(self, account_id: int, now: datetime) -> bool:
        """Note that a person is told that the agent remembers; tell whether it is for the first time."""
        async with self._store.connection() as conn:
            return bool(await conn.fetchval(QUERIES["tell_once"], account_id, now))

    async def count_saves(self, account_id: int, since: datetime) -> int:
        """Return how many memories an account had saved since then."""
        async with self._store.connection() as conn:
            count: int = await conn.fetchval(QUERIES["count_saves"], account_id, since)
            return count

    async def block(self, server_id: int | None, user_ids: Iterable[int], lineage_id: int) -> Sequence[Memory]:
        """Return what is remembered about a server and about users, those of lineage 0 too, oldest first."""
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["read_block"], server_id, list(user_ids), lineage_id)
        # Nearly sorted already, as they were written: sooner done here than by the database.
        return sorted(map(memory_from_row, rows), key=attrgetter("memory_id"))

    async def standing(
        self,
        account_ids: Iterable[int],
        user_ids: Iterable[int],
        server_id: int,
        dormant: Sequence[int] = (),
        model: str | None = None,
        *,
        mentioned: Iterable[str] = (),
    ) -> Standing:
        """Return what counts now for accounts and for users' accounts, linked ones included.

        Also which of the dormant memories have a vector of that model (only where vectors can be kept), and who those
        are that are mentioned by the platform's ids.
        """
        wanted = list(mentioned)
        values = (list(account_ids), list(user_ids), server_id, wanted)
        async with self._store.connection() as conn:
            if dormant:
                found = await conn.fetch(QUERIES["read_standing_and_asleep"], *values, dormant, model)
            else:
                found = await conn.fetch(QUERIES["read_standing"], *values)
        rows = [row for row in found if row["account_id"] is not None]
        people = tuple(facts_from(row) for row in rows)
        return Standing(
            people,
            {row["account_id"]: row["display_name"] for row in rows},
            frozenset(row["memory_id"] for row in found if row["account_id"] is None),
            nameable(people, {row["account_id"]: (row["external_id"], row["display_name"]) for row in rows}, wanted),
        )

    async def export(self, account_id: int, user_id: int | None) -> dict[str, Json]:
        """Return everything that is kept about a person, by kind; moments as ISO 8601."""
        async with self._store.connection() as conn:
            personal = await conn.fetch(QUERIES["export_personal"], account_id, user_id)
            server = await conn.fetch(QUERIES["export_server"], account_id, user_id)
            forgotten = await conn.fetch(QUERIES["export_forgotten"], account_id, user_id)
        return {
            "personal_memories": [_exported(row) for row in personal],
            "server_memories": [_exported(row) for row in server],
            "undo_copies": [_exported(row) for row in forgotten],
        }

    async def erase(self, conn: Connection, account_id: int, user_id: int | None, now: datetime) -> Erased:
        """Remove everything about a person. The caller has locked the person's accounts and user row."""
        await conn.fetch(QUERIES["lock_servers_about"], account_id, user_id)
        row = await conn.fetchrow(QUERIES["erase"], account_id, user_id, now)
        names = await conn.fetchrow(QUERIES["erase_authorship"], account_id, user_id)
        assert row is not None  # noqa: S101  # counts come as one row
        assert names is not None  # noqa: S101
        sources = list(zip(row["platforms"], row["messages"], strict=True))
        await end_turns(conn, sources, now)
        # Those that are about the person in themselves are the core's; accounts may have parted since.
        withdrawn = await withdraw_notices(conn, now, memories=row["memory_ids"])
        counts = {kind: row[kind] for kind in ("personal_memories", "server_memories", "undo_copies")}
        counts |= {"authorships": names["authorships"], "notices": withdrawn.total}
        return Erased(counts, tuple(row["owners"] or ()))

    async def sweep(self, forgotten_before: datetime) -> None:
        """Remove the undo copies that are older."""
        async with self._store.connection() as conn:
            await conn.execute(QUERIES["sweep_forgotten"], forgotten_before)

    async def counts(self) -> tuple[int, int]:
        """Return the numbers of server memories and of personal memories."""
        async with self._store.connection() as conn:
            row = await conn.fetchrow(QUERIES["count_memories"])
        assert row is not None  # noqa: S101  # counts come as one row
        return row["server"], row["personal"]


def _exported(row: asyncpg.Record) -> dict[str, Json]:
    return {key: value.isoformat() if isinstance(value, datetime) else value for key, value in row.items()}


def _as_json(write: MemoryWrite) -> dict[str, Any]:
    """Return the row of a new memory by column; the database adds id, moments and version."""
    source = write.source
    row: dict[str, Any] = {
        "persona_lineage_id": write.lineage_id,
        "content": write.content,
        "content_key": "\\x" + content_key(write.content).hex(),
        "words": " ".join(quoted(word) for word in words_to_keep(write.content)),
        "tags": write.tags,
        "subject_account_id": write.subject_account_id,
        "subject_user_id": write.subject_user_id,
        "audience": write.audience,
        "manually_written": write.manually_written,
        "origin": write.origin,
        "source_platform": source.platform,
        "source_server_id": source.server_id,
        "source_channel_id": source.channel_external_id,
        "source_message_id": source.message_id,
        "source_turn_id": source.turn_id,
        "source_tool": source.tool,
        "author_account_id": source.author_account_id,
    }
    if write.scope is MemoryScope.PERSONAL:
        return {**row, "user_id": write.user_id}
    return {
        **row,
        "server_id": write.server_id,
        "channel_disc_ids": write.channel_scope,
        "channel_scope_pending": False,
        "legacy_channel_scope_tags": [],
    }
