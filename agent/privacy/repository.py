"""Privacy levels, blacklists and switches: changes that a save under way either waits for or is waited for by."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from asyncpg import Record

from agent.contracts.memory import MemoryRead, MemoryScope, MemoryWrite
from agent.contracts.people import Account, PrivacyLevel
from agent.identity.records import account_from
from agent.preferences import Layer, resolve
from agent.preferences_repository import choose, read_rows
from agent.privacy.check import PersonFacts, consulted_accounts, consulted_users
from agent.privacy.hidden import NOBODY, Hidden, HiddenNames
from agent.privacy.levels import strictest
from agent.privacy.switches import MEMBER_ACCESS
from agent.store.queries import load_queries
from agent.store.revisions import bump
from agent.turn.values import server_owner, user_owner

if TYPE_CHECKING:
    from agent.preferences import Preference
    from agent.store.pool import Store
    from agent.tools import Connection

QUERIES = load_queries(__name__)
HIDDEN_NAMES = 10_000
"""At most so many names of people who hide are looked for in a text."""


class UnknownPerson(LookupError):
    """There is no such account."""


class UnknownServer(LookupError):
    """There is no such server."""


class Privacy:
    """Levels, blacklists and switches.

    A change takes the locks of a write, so that after it nothing that it forbids appears.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    async def level(self, account_id: int) -> PrivacyLevel:
        """Return the level of an account.

        Raises:
            UnknownPerson: there is no such account.
        """
        async with self._store.connection() as conn:
            level = await conn.fetchval(QUERIES["level"], account_id)
        if level is None:
            raise _unknown_person(account_id)
        return PrivacyLevel(level)

    async def set_level(self, account_id: int, level: PrivacyLevel) -> PrivacyLevel:
        """Set the level of a person, linked accounts included; return the one that held before.

        Raises:
            UnknownPerson: there is no such account.
        """

        async def change() -> PrivacyLevel:
            async with self._store.transaction() as conn:
                rows = await lock_person(conn, account_id)
                await conn.execute(QUERIES["set_level"], [row["account_id"] for row in rows], level)
                await bump(conn, _owners(rows))
                return strictest(PrivacyLevel(row["privacy_level"]) for row in rows)

        return await self._store.retrying(change)

    async def blacklist_add(self, server_id: int, account_id: int, now: datetime) -> bool:
        """Put somebody on the blacklist of a server; tell whether that changed anything.

        Raises:
            UnknownPerson: there is no such account.
            UnknownServer: there is no such server.
        """

        async def change() -> bool:
            async with self._store.transaction() as conn:
                rows = await lock_person(conn, account_id)
                await lock_server(conn, server_id)
                added = await conn.fetchval(QUERIES["blacklist_add"], server_id, account_id, now)
                if added is not None:
                    await bump(conn, [server_owner(server_id), *_owners(rows)])
                return added is not None

        return await self._store.retrying(change)

    async def blacklist_remove(self, server_id: int, account_id: int) -> bool:
        """Take somebody, linked accounts included, off the blacklist of a server; tell whether that changed anything.

        Raises:
            UnknownPerson: there is no such account.
            UnknownServer: there is no such server.
        """

        async def change() -> bool:
            async with self._store.transaction() as conn:
                rows = await lock_person(conn, account_id)
                await lock_server(conn, server_id)
                accounts = [row["account_id"] for row in rows]
                removed = await conn.fetch(QUERIES["blacklist_remove"], server_id, accounts)
                if removed:
                    await bump(conn, [server_owner(server_id), *_owners(rows)])
                return bool(removed)

        return await self._store.retrying(change)

    async def blacklist(self, server_id: int) -> tuple[Account, ...]:
        """Return who is on the blacklist of a server, the longest there first."""
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["blacklist"], server_id)
        return tuple(account_from(row) for row in rows)

    async def choose_for_server(self, server_id: int, preference: Preference[Any], value: object) -> None:
        """Set a switch of a server under the lock of its writes: what it forbids does not appear afterwards.

        Raises:
            PreferenceError: servers may not choose this value.
            UnknownServer: there is no such server.
        """

        async def change() -> None:
            async with self._store.transaction() as conn:
                await lock_server(conn, server_id)
                await choose(conn, preference, Layer.SERVER, server_id, value)
                await bump(conn, [server_owner(server_id)])

        await self._store.retrying(change)

    async def members_may_list(self, server_id: int) -> bool:
        """Tell whether everybody in a server may list its memories."""
        async with self._store.connection() as conn:
            rows = await read_rows(conn, server_id, None)
        return resolve(MEMBER_ACCESS, rows.server, {}).value

    async def wants_no_personal_memories(self, server_id: int) -> bool:
        """Tell whether a server has switched personal memories off."""
        async with self._store.connection() as conn:
            off: bool = await conn.fetchval(QUERIES["personal_memories_off"], server_id)
            return off

    async def hidden_names(
        self, server_id: int, account_ids: Sequence[int] = (), conn: Connection | None = None
    ) -> Hidden:
        """Return the names of everybody who hides, as a server and the servers of some people know them.

        Of very many the most recently seen: `HIDDEN_NAMES` at most. `conn`: the connection of a transaction.
        """
        if conn is None:
            async with self._store.connection() as own:
                return await self.hidden_names(server_id, account_ids, own)
        rows = await conn.fetch(QUERIES["hidden_names"], server_id, list(account_ids), HIDDEN_NAMES)
        if not rows:
            return NOBODY
        here = HiddenNames(row["normalised"] for row in rows if row["is_here"])
        return Hidden(here, HiddenNames(row["normalised"] for row in rows))

    async def facts_of_account(self, account_id: int, server_id: int | None) -> tuple[PersonFacts, ...]:
        """Return what counts now for an account and those linked to it, in a server."""
        return await self._facts([account_id], [], server_id)

    async def facts_of_write(self, write: MemoryWrite) -> tuple[PersonFacts, ...]:
        """Return what a write rests on, as it is now; it may change before the write is committed."""
        return await self._facts(list(consulted_accounts(write)), list(consulted_users(write)), write.server_id)

    async def facts_of_read(self, read: MemoryRead) -> tuple[PersonFacts, ...]:
        """Return what a read rests on."""
        return await self._facts([], [] if read.user_id is None else [read.user_id], read.server_id)

    async def lock_facts_of_write(self, conn: Connection, write: MemoryWrite) -> tuple[PersonFacts, ...]:
        """Lock what a write rests on until the end of the transaction, then return it as it is under the lock.

        Locked are, in this order: the accounts of subject, author, hosts and owner by ascending id, the users, the
        server; the owner for a change, the others for sharing. To be called before any other lock of the transaction,
        or after the same ones.
        """
        owner = write.user_id if write.scope is MemoryScope.PERSONAL else None
        rows = await conn.fetch(
            QUERIES["facts_for_write"],
            list(consulted_accounts(write)),
            list(consulted_users(write)),
            owner,
            write.server_id,
        )
        return tuple(facts_from(row) for row in rows)

    async def _facts(self, accounts: list[int], users: list[int], server_id: int | None) -> tuple[PersonFacts, ...]:
        if not accounts and not users:
            return ()
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["facts_of_people"], accounts, users, server_id)
        return tuple(facts_from(row) for row in rows)


async def lock_person(conn: Connection, account_id: int) -> Sequence[Record]:
    """Lock a person's accounts and user for a change; return the accounts (account_id, user_id, privacy_level).

    Raises:
        UnknownPerson: there is no such account.
    """
    rows = await conn.fetch(QUERIES["lock_person"], account_id)
    if not rows:
        raise _unknown_person(account_id)
    return rows


async def lock_server(conn: Connection, server_id: int) -> None:
    """Lock a server for a change, after its people.

    Raises:
        UnknownServer: there is no such server.
    """
    if await conn.fetchval(QUERIES["lock_server"], server_id) is None:
        raise UnknownServer(f"there is no server {server_id}")


def _owners(rows: Sequence[Record]) -> list[str]:
    return [user_owner(user_id) for user_id in {row["user_id"] for row in rows} - {None}]


def facts_from(row: Record) -> PersonFacts:
    """Return the facts of a row of `facts_of_people` or `facts_for_write`."""
    return PersonFacts(
        account_id=row["account_id"],
        user_id=row["user_id"],
        privacy=PrivacyLevel(row["privacy_level"]),
        forgotten_before=row["forgotten_before"],
        blacklisted=row["blacklisted"],
        personal_off=row["personal_off"],
    )


def _unknown_person(account_id: int) -> UnknownPerson:
    return UnknownPerson(f"there is no account {account_id}")
