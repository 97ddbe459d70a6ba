"""Requests to be linked: a code for one account, entered by another, and then waiting for the first to confirm."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from agent.confirmations import digest, make_code
from agent.identity.records import account_from
from agent.linking.rules import (
    ASKED_MOST,
    COUNTED,
    LINKABLE,
    OPEN_MOST,
    VALID,
    WRONG_MOST,
    WRONG_MOST_OF_ALL,
    LinkRefusal,
    why_not,
)
from agent.store.queries import load_queries

if TYPE_CHECKING:
    from agent.contracts.people import Account
    from agent.store.pool import Store
    from agent.tools import Connection

QUERIES = load_queries(__name__, "requests.sql")


@dataclass(frozen=True, slots=True)
class Waiting:
    """Another account has entered somebody's code."""

    other: Account
    is_shown: bool
    """Whether it was shown before who asks."""


class LinkRequests:
    """The open requests: one for each account; a restart keeps them, and only digests of codes are stored."""

    def __init__(self, store: Store, make: Callable[[], str] = make_code) -> None:
        self._store = store
        self._make = make

    async def ask(self, account: Account, now: datetime) -> str | LinkRefusal:
        """Return a code that another account enters within `VALID`, or why there is none; an earlier one is void."""
        if account.key.kind not in LINKABLE:
            return LinkRefusal.KIND
        code = self._make()
        async with self._store.transaction() as conn:
            await _prepare(conn, now)
            if await conn.fetchval(QUERIES["count_own"], account.account_id, "asked", now - COUNTED) >= ASKED_MOST:
                return LinkRefusal.TOO_MANY_CODES
            if await conn.fetchval(QUERIES["count_open"]) >= OPEN_MOST:
                return LinkRefusal.BUSY
            await conn.execute(QUERIES["note_try"], account.account_id, "asked", now)
            await conn.execute(QUERIES["ask"], account.account_id, digest(code), now + VALID)
        return code

    async def enter(self, account: Account, code: str, now: datetime) -> Account | LinkRefusal:
        """Take the code that an account has entered: return whose it is, who must confirm now, or why it is refused.

        A right code is used up, a wrong one counts; one that is refused for another reason can still be entered.
        """
        if account.key.kind not in LINKABLE:
            return LinkRefusal.KIND
        async with self._store.transaction() as conn:
            await _prepare(conn, now)
            if await conn.fetchval(QUERIES["count_own"], account.account_id, "wrong", now - COUNTED) >= WRONG_MOST:
                return LinkRefusal.TOO_MANY_WRONG
            if await conn.fetchval(QUERIES["count_wrong"], now - VALID) >= WRONG_MOST_OF_ALL:
                return LinkRefusal.BUSY
            owner = await _owner_of(conn, code, now)
            if owner is None:
                await conn.execute(QUERIES["note_try"], account.account_id, "wrong", now)
                return LinkRefusal.WRONG
            if owner == account.account_id:
                return LinkRefusal.OWN_CODE
            first, second = await accounts_of(conn, owner), await accounts_of(conn, account.account_id)
            if (refusal := why_not(first, second)) is not None:
                return refusal
            await conn.execute(QUERIES["enter"], owner, account.account_id, now + VALID)
        return next(each for each in first if each.account_id == owner)

    async def waiting(self, account_id: int, now: datetime, *, shows: bool = False) -> Waiting | None:
        """Return who has entered an account's code and waits for it to confirm; `shows`: it is told now who asks."""
        async with self._store.transaction() as conn:
            row = await conn.fetchrow(QUERIES["waiting"], account_id, now)
            if row is None:
                return None
            other = row["other_account_id"]
            if shows:
                await conn.execute(QUERIES["show"], account_id, other)
            (account,) = [each for each in await accounts_of(conn, other) if each.account_id == other]
        return Waiting(account, row["is_shown"])

    async def refuse(self, account_id: int) -> bool:
        """Take an account's request back; tell whether there was one."""
        async with self._store.connection() as conn:
            return await conn.fetchval(QUERIES["remove"], account_id) is not None


async def take_confirmed(conn: Connection, account_id: int, now: datetime) -> int | None:
    """Use up a request that somebody confirms, on the transaction that links; return the account that asks.

    None: nobody asks (any more), or it was not shown who.
    """
    await conn.execute(QUERIES["one_at_a_time"])
    row = await conn.fetchrow(QUERIES["waiting"], account_id, now)
    if row is None or not row["is_shown"]:
        return None
    await conn.execute(QUERIES["remove"], account_id)
    other: int = row["other_account_id"]
    return other


async def accounts_of(conn: Connection, account_id: int) -> tuple[Account, ...]:
    """Return an account with those that are linked to it, by ascending id; none when there is no such account."""
    return tuple(account_from(row) for row in await conn.fetch(QUERIES["accounts"], account_id))


async def _prepare(conn: Connection, now: datetime) -> None:
    await conn.execute(QUERIES["one_at_a_time"])
    await conn.execute(QUERIES["sweep_requests"], now)
    await conn.execute(QUERIES["sweep_tries"], now - COUNTED)


async def _owner_of(conn: Connection, code: str, now: datetime) -> int | None:
    """Return whose code it is. Every open one is compared, each in constant time: how long it takes tells nothing."""
    entered, found = digest(code), None
    for row in await conn.fetch(QUERIES["codes"], now):
        if hmac.compare_digest(row["code_digest"], entered):
            found = row["account_id"]
    return found
