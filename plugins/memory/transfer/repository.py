"""All SQL of exports and imports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from agent.contracts.memory import MemoryScope, MemoryWrite
from agent.store.queries import load_queries
from agent.turn.values import server_owner, user_owner
from plugins.memory.content import content_key

if TYPE_CHECKING:
    from asyncpg import Record

    from agent.personas.repository import Personas
    from agent.store.pool import Store
    from agent.tools import Connection
    from plugins.memory.transfer.entries import Person, Spot

QUERIES = load_queries(__name__)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What an export reads in one moment."""

    server: Mapping[str, str] | None
    """`platform`, `id` and `name`."""
    server_rows: Sequence[Record]
    personal_rows: Sequence[Record]
    names: Mapping[int, tuple[str, ...]]
    """Lineage → the names of its personas."""


@dataclass(frozen=True, slots=True)
class KnownAccount:
    """An account that an entry may mean."""

    account_id: int
    user_id: int | None
    platform: str
    external_id: str
    display_name: str


@dataclass(frozen=True, slots=True)
class Locked:
    """What an import rests on."""

    accounts: Iterable[int]
    users: Iterable[int]
    server_id: int | None
    owns_server: bool
    """Whether memories of the server are written, and not only in it."""
    owner_user_id: int | None


class TransferRepository:
    """Reads and writes for files of memories; what takes `conn` belongs into the caller's transaction."""

    def __init__(self, store: Store, personas: Personas) -> None:
        self._store = store
        self._personas = personas

    async def snapshot(self, server_id: int | None, user_id: int | None, lineage_id: int | None) -> Snapshot:
        """Read the memories of a server and of a user as they are in one moment, whatever is written meanwhile."""
        async with (
            self._store.connection() as conn,
            conn.transaction(isolation="repeatable_read", readonly=True),
        ):
            server = None if server_id is None else await conn.fetchrow(QUERIES["server"], server_id)
            server_rows = [] if server_id is None else await conn.fetch(QUERIES["server_rows"], server_id, lineage_id)
            personal = [] if user_id is None else await conn.fetch(QUERIES["personal_rows"], user_id, lineage_id)
            lineages = sorted({row["persona_lineage_id"] for row in personal})
            named = [tuple(row) for row in await conn.fetch(QUERIES["lineage_names"], lineages)]
            if server_id is not None:
                personas = await self._personas.read(conn, server_id)
                named += [(each.lineage_id, each.nickname) for each in personas]
        names: dict[int, tuple[str, ...]] = {}
        for lineage, name in named:
            names[lineage] = tuple(dict.fromkeys((*names.get(lineage, ()), name)))
        home = None if server is None else {"platform": server[0], "id": server[1], "name": server[2]}
        return Snapshot(home, server_rows, personal, names)

    async def accounts(self, people: Iterable[Person]) -> Mapping[Person, tuple[KnownAccount, ...]]:
        """Return the accounts that the people of a file may be."""
        wanted = list(dict.fromkeys(people))
        async with self._store.connection() as conn:
            rows = await conn.fetch(
                QUERIES["accounts_of"], [one.platform for one in wanted], [one.external_id for one in wanted]
            )
        found: dict[tuple[str | None, str], dict[int, KnownAccount]] = {}
        for row in rows:
            account = KnownAccount(*(row[key] for key in KnownAccount.__slots__))
            found.setdefault((row["asked"], row["external_id"]), {})[account.account_id] = account
        return {one: tuple(found.get((one.platform, one.external_id), {}).values()) for one in wanted}

    async def accounts_of_user(self, user_id: int) -> tuple[tuple[int, str, str], ...]:
        """Return account, platform and id of each account of a user."""
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["accounts_of_user"], user_id)
        return tuple((row["account_id"], row["platform"], row["external_id"]) for row in rows)

    async def user_of(self, account_id: int) -> int | None:
        """Return the user of an account; None for one that owns no memories."""
        async with self._store.connection() as conn:
            user_id: int | None = await conn.fetchval(QUERIES["user_of"], account_id)
        return user_id

    async def servers(self, spots: Iterable[Spot]) -> Mapping[tuple[str, str], int]:
        """Return the servers that spots name: (platform, id) → row."""
        wanted = sorted({(spot.platform, spot.server) for spot in spots if spot.server is not None})
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["servers_of"], [one[0] for one in wanted], [one[1] for one in wanted])
        return {(row["platform"], row["external_id"]): row["server_id"] for row in rows}

    async def personas_of_user(self, user_id: int) -> tuple[tuple[str, int], ...]:
        """Return name and lineage of the personas, of any server, that remember something about a user."""
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["personas_of_user"], user_id)
        return tuple((row["nickname"], row["persona_lineage_id"]) for row in rows)

    async def lock(self, conn: Connection, locked: Locked) -> None:
        """Lock everything that an import rests on, in the order of every write: accounts, users, server."""
        await conn.fetch(QUERIES["lock_accounts"], sorted(locked.accounts), sorted(locked.users))
        for user_id in sorted(set(locked.users)):
            name = "lock_owner" if user_id == locked.owner_user_id else "lock_user"
            await conn.fetch(QUERIES[name], user_id)
        if locked.server_id is not None:
            await conn.fetch(QUERIES["lock_server" if locked.owns_server else "lock_place"], locked.server_id)

    async def may_be_named(self, conn: Connection, account_id: int, since: datetime) -> bool:
        """Tell whether an account has not asked to be forgotten since then."""
        allowed: bool = await conn.fetchval(QUERIES["may_be_named"], account_id, since)
        return allowed

    async def clear(
        self,
        conn: Connection,
        scope: MemoryScope,
        owner_id: int,
        lineage_id: int | None,
        *,
        narrow: bool,
        actor: int | None,
        now: datetime,
    ) -> Mapping[tuple[int | None, int | None], int]:
        """Remove the memories of an owner, for undo copied, and count them by subject; None means every lineage.

        What a server remembers for some readers only stays unless `narrow`.
        """
        rows = await conn.fetch(QUERIES[f"clear_{scope}"], owner_id, lineage_id, narrow, actor, now)
        owner = (server_owner if scope is MemoryScope.SERVER else user_owner)(owner_id)
        await conn.execute(QUERIES["raise_revision"], owner)
        return {(row["subject_account_id"], row["subject_user_id"]): row["removed"] for row in rows}

    async def find_scoped(self, conn: Connection, write: MemoryWrite) -> int | None:
        """Return the memory of that server that says the same but applies in some channels only."""
        found: int | None = await conn.fetchval(
            QUERIES["find_scoped"],
            content_key(write.content),
            write.server_id,
            write.lineage_id,
            write.audience,
            write.source.platform,
            write.source.channel_external_id,
            write.subject_user_id,
            write.subject_account_id,
        )
        return found

    async def date(self, conn: Connection, scope: MemoryScope, moments: Mapping[int, datetime], now: datetime) -> None:
        """Set when memories were made, as their file says."""
        if moments:
            await conn.execute(QUERIES[f"date_{scope}"], list(moments), list(moments.values()), now)
