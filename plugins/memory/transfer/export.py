"""Writing memories as a file: what is exported is what is so in one moment, and may be told."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from agent.contracts.memory import MemoryRead, MemoryScope
from agent.contracts.people import DEFAULT_LINEAGE, GLOBAL_LINEAGE
from agent.places import Audience
from agent.printing import safe_json
from agent.privacy.audit import Act, Look
from plugins.memory.memory import Memory
from plugins.memory.reading import untellable
from plugins.memory.rules import subject_accounts
from plugins.memory.transfer.entries import FORMAT, VERSION
from plugins.memory.transfer.rules import DEFAULT_LABEL, GLOBAL_LABEL

if TYPE_CHECKING:
    from asyncpg import Record

    from agent.clock import Clock
    from agent.privacy.audit import Audit
    from agent.privacy.guards import MemoryGuards
    from plugins.memory.repository import MemoryRepository
    from plugins.memory.transfer.repository import Snapshot, TransferRepository

type Admits = Callable[[Memory], bool]


@dataclass(frozen=True, slots=True)
class Reach:
    """What is to be exported."""

    server_id: int | None = None
    user_id: int | None = None
    lineage_id: int | None = None
    """None: every lineage."""
    narrow: bool = False
    """Whether what only some members of the server may read goes into the file too."""
    reader_account_id: int | None = None
    """Who gets the file; None for operators."""
    via: str = "isthmus memory export"
    """The command, as the audit trail says it."""


@dataclass(frozen=True, slots=True)
class Exported:
    """A file, and what is in it."""

    content: bytes
    server_memories: int
    personal_memories: int
    narrower: int
    """Left out because not every member of the server may read them."""
    withheld: int
    """Left out because whom they are about, or this place, does not allow it."""

    @property
    def count(self) -> int:
        """Return how many memories are in the file."""
        return self.server_memories + self.personal_memories


def everything(_: Memory) -> bool:
    """Admit every memory."""
    return True


class Exporter:
    """Makes files of memories; channel scopes are left out, because channels are others elsewhere."""

    def __init__(
        self,
        transfers: TransferRepository,
        memories: MemoryRepository,
        guards: MemoryGuards,
        audit: Audit,
        clock: Clock,
    ) -> None:
        self._transfers = transfers
        self._audit = audit
        self._memories = memories
        self._guards = guards
        self._clock = clock

    async def export(self, reach: Reach, admits: Admits = everything) -> Exported:
        """Return the memories of a server, a person or both, as far as they may be told.

        `admits` is asked for personal memories: whether the place in which the file is given lets them be read.
        """
        snapshot = await self._transfers.snapshot(reach.server_id, reach.user_id, reach.lineage_id)
        wide = [row for row in snapshot.server_rows if reach.narrow or _is_wide(row)]
        withheld = await self._withheld(reach, wide)
        server = [row for row in wide if row["memory_id"] not in withheld]
        personal = [row for row in snapshot.personal_rows if admits(_memory(row, MemoryScope.PERSONAL))]
        now = self._clock.now()
        await self._audit.record(_looks(reach, (*server, *personal)), now)
        content = await asyncio.to_thread(_written, snapshot, server, personal, now)
        return Exported(
            content,
            len(server),
            len(personal),
            len(snapshot.server_rows) - len(wide),
            len(withheld) + len(snapshot.personal_rows) - len(personal),
        )

    async def _withheld(self, reach: Reach, rows: Sequence[Record]) -> frozenset[int]:
        """Return the ids of server memories that guards, or whom they are about, do not let be told now."""
        if reach.server_id is None or not rows:
            return frozenset()
        memories = [_memory(row, MemoryScope.SERVER) for row in rows]
        standing = await self._memories.standing(subject_accounts(memories), (), reach.server_id)
        hidden = await self._guards.hidden_names(reach.server_id)
        found = {row["memory_id"] for row in rows if hidden.here.named_in(row["content"])}
        for lineage in sorted({memory.lineage_id for memory in memories}):
            mine = [memory for memory in memories if memory.lineage_id == lineage]
            read = MemoryRead(MemoryScope.SERVER, reach.server_id, None, lineage, reach.reader_account_id)
            if await self._guards.check_read(read) is not None:
                found.update(memory.memory_id for memory in mine)
            else:
                found |= await untellable(self._guards, read, mine, standing.people)
        return frozenset(found)


def _looks(reach: Reach, rows: Sequence[Record]) -> list[Look]:
    """Return what the audit trail says: an act on each person whom some of the memories are about."""
    about = Counter((row["subject_account_id"], row["subject_user_id"]) for row in rows)
    return [
        Look(Act.EXPORTED, reach.via, reach.reader_account_id, reach.server_id, account_id, user_id, items)
        for (account_id, user_id), items in about.items()
        if account_id is not None or user_id is not None
    ]


def _is_wide(row: Record) -> bool:
    return row["audience"] in {Audience.OPEN, Audience.SERVER}


def _memory(row: Record, scope: MemoryScope) -> Memory:
    """Return a row as the rules of reading see it."""
    return Memory(
        memory_id=row["memory_id"],
        scope=scope,
        owner_id=row["owner_id"],
        lineage_id=row["persona_lineage_id"],
        content=row["content"],
        audience=Audience(row["audience"]),
        channel_ids=(),
        scope_pending=False,
        subject_account_id=row["subject_account_id"],
        subject_user_id=row["subject_user_id"],
        source_platform=row["source_platform"],
        source_server_id=row["source_server_id"],
        source_channel_id=row["source_channel_id"],
        manually_written=row["manually_written"],
        last_reinforced_at=row["last_reinforced_at"],
        created_at=row["created_at"],
        version=row["version"],
        has_names=False,
    )


def _written(snapshot: Snapshot, server: Sequence[Record], personal: Sequence[Record], now: datetime) -> bytes:
    lineages = sorted({row["persona_lineage_id"] for row in (*server, *personal)} - {GLOBAL_LINEAGE})
    data = {
        "format": FORMAT,
        "version": VERSION,
        "exported_at": _moment(now),
        "server": snapshot.server,
        "lineages": {label_of(each): {"personas": list(snapshot.names.get(each, ()))} for each in lineages},
        "server_memories": [_entry(row, "about") for row in server],
        "personal_memories": [_entry(row, "person") for row in personal],
    }
    return (safe_json(data, indent=1) + "\n").encode()


def label_of(lineage_id: int) -> str:
    """Return what a file calls a lineage."""
    known = {DEFAULT_LINEAGE: DEFAULT_LABEL, GLOBAL_LINEAGE: GLOBAL_LABEL}
    return known.get(lineage_id, f"lineage-{lineage_id}")


def _entry(row: Record, person: str) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "id": row["memory_id"],
        "content": row["content"],
        "lineage": label_of(row["persona_lineage_id"]),
        person: _person(row, person),
        "audience": row["audience"],
        "place": _place(row, person),
        "tags": list(row["tags"]),
        "origin": row["origin"],
        "manually_written": row["manually_written"],
        "created_at": _moment(row["created_at"]),
        "updated_at": _moment(row["updated_at"]),
        "last_reinforced_at": None if row["last_reinforced_at"] is None else _moment(row["last_reinforced_at"]),
    }
    return {key: value for key, value in entry.items() if value not in (None, [])}


def _person(row: Record, key: str) -> Mapping[str, str] | None:
    """Return whom a memory is about; a proxied identity has no account, and its number means nothing elsewhere."""
    if row["person_id"] is not None:
        return {"platform": row["person_platform"], "id": row["person_id"], "name": row["person_name"]}
    identity = row["subject_user_id"] if key == "about" else row["owner_id"]
    return None if identity is None else {"platform": PROXIED, "id": str(identity)}


PROXIED = "proxied-identity"
"""Stands for the platform of somebody who has no account."""


def _place(row: Record, key: str) -> Mapping[str, str | None] | None:
    """Return where a memory was said, for those that may be read there only."""
    if row["audience"] == Audience.CHANNEL:
        return {"platform": row["source_platform"], "server": row["source_server"], "channel": row["source_channel_id"]}
    if row["audience"] == Audience.SERVER and key == "person":
        return {"platform": row["source_platform"], "server": row["source_server"]}
    return None


def _moment(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()
