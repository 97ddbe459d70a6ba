"""Rows of the core that memories hang on, and writes as a tool makes them."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from agent.contracts.memory import MemoryScope, MemorySource, MemoryWrite, Origin, WriteKind
from agent.places import Audience
from agent.privacy.repository import Privacy
from agent.store.pool import Store
from plugins.memory.repository import Added, MemoryRepository, Room

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
ROOM = Room(cap=100, may_evict=False, decay_days=30)
_numbers = count(1)


@dataclass(frozen=True, slots=True)
class Person:
    account_id: int
    user_id: int


@dataclass(frozen=True, slots=True)
class World:
    store: Store

    async def server(self, kind: str = "guild") -> int:
        return await self._value(
            "INSERT INTO servers (platform, external_id, kind, name, created_at) "
            "VALUES ('console', $1, $2, 'home', $3) RETURNING server_id",
            f"console:server{next(_numbers)}",
            kind,
            NOW,
        )

    async def user(self) -> int:
        return await self._value("INSERT INTO users (kind, created_at) VALUES ('account', $1) RETURNING user_id", NOW)

    async def account(self, user_id: int | None, name: str = "Ana", *, privacy: str = "none", told: bool = True) -> int:
        return await self._value(
            "INSERT INTO accounts (platform, external_id, kind, user_id, display_name, privacy_level, disclosed_at, "
            "created_at, last_seen_at) VALUES ('console', $1, 'console_user', $2, $3, $4, $5, $6, $6) "
            "RETURNING account_id",
            f"console:person{next(_numbers)}",
            user_id,
            name,
            privacy,
            NOW if told else None,
            NOW,
        )

    async def person(self, name: str = "Ana", *, privacy: str = "none", told: bool = True) -> Person:
        user_id = await self.user()
        return Person(await self.account(user_id, name, privacy=privacy, told=told), user_id)

    async def rows(self, query: str, *values: Any) -> list[dict[str, Any]]:
        async with self.store.connection() as conn:
            return [dict(row) for row in await conn.fetch(query, *values)]

    async def _value(self, query: str, *values: Any) -> int:
        async with self.store.connection() as conn:
            value = await conn.fetchval(query, *values)
            assert isinstance(value, int)
            return value


def source(**changes: Any) -> MemorySource:
    plain = MemorySource(
        platform="console",
        server_id=None,
        channel_external_id="console:general",
        message_id="m1",
        turn_id="t1",
        tool="create_long_term_memory",
        author_account_id=None,
        occurred_at=NOW,
    )
    return replace(plain, **changes)


def about_server(server_id: int, content: str, *, lineage: int = 1, **changes: Any) -> MemoryWrite:
    plain = MemoryWrite(
        kind=WriteKind.CREATE,
        scope=MemoryScope.SERVER,
        server_id=server_id,
        user_id=None,
        lineage_id=lineage,
        content=content,
        audience=Audience.SERVER,
        origin=Origin.MODEL,
        source=source(server_id=server_id),
    )
    return replace(plain, **changes)


def about_person(user_id: int, content: str, *, lineage: int = 1, **changes: Any) -> MemoryWrite:
    plain = MemoryWrite(
        kind=WriteKind.CREATE,
        scope=MemoryScope.PERSONAL,
        server_id=None,
        user_id=user_id,
        lineage_id=lineage,
        content=content,
        audience=Audience.OPEN,
        origin=Origin.MODEL,
        source=source(),
        subject_user_id=user_id,
    )
    return replace(plain, **changes)


async def save(
    repository: MemoryRepository, store: Store, write: MemoryWrite, room: Room = ROOM, now: datetime = NOW
) -> Added:
    async with store.transaction() as conn:
        await Privacy(store).lock_facts_of_write(conn, write)
        return await repository.add(conn, write, room, now)
