"""Linking accounts to one person and parting them again: one transaction each, under the locks of every write."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING

from agent.contracts.links import UserMove
from agent.contracts.people import Account, PrivacyLevel
from agent.identity.records import account_from
from agent.linking.moves import Hooks, move
from agent.linking.requests import accounts_of, take_confirmed
from agent.linking.rules import LinkRefusal, kept_user, part, why_not
from agent.privacy.audit import Act, Audit, Look
from agent.privacy.levels import strictest
from agent.store.queries import load_queries
from agent.store.revisions import bump
from agent.turn.values import server_owner, user_owner

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent.invalidation import Invalidation
    from agent.store.pool import Store
    from agent.tools import Connection

QUERIES = load_queries("agent.linking")


@dataclass(frozen=True, slots=True)
class Linked:
    """Two people are one now."""

    user_id: int
    accounts: tuple[Account, ...]
    """All of them, as they were before: that which confirmed and those linked to it first."""
    other: Account
    """The account that had asked."""
    level: PrivacyLevel
    """The stricter level, which holds for all of them."""
    owners: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unlinked:
    """One account has left the others."""

    account: Account
    """As it was before."""
    others: tuple[Account, ...]
    level: PrivacyLevel
    """What each of them keeps."""
    leaver_keeps: bool
    """Whether it was the account that left which kept the user row, because the others can own nothing."""
    owned_apart: bool
    """Whether both sides own memories; else everything stays with the side that does."""
    went: int
    """What went to the new user row: what was learned on that side."""
    stayed: int
    """What stayed with the user row that there was."""
    owners: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Person:
    """Linked accounts, for an operator."""

    user_id: int
    accounts: tuple[Account, ...]
    since: datetime
    """When the first two were linked."""


class Links:
    """Which accounts are one person."""

    def __init__(self, store: Store, hooks: Hooks, audit: Audit, revisions: Invalidation) -> None:
        self._store = store
        self._hooks = hooks
        self._audit = audit
        self._revisions = revisions

    async def confirm(self, account_id: int, now: datetime) -> Linked | LinkRefusal:
        """Link an account with the one that has entered its code and was shown to it; the request is used up.

        Everything that either person's user row holds is one person's from then on.

        Raises:
            agent.plugin_host.HookFailed: a plugin could not do its part; then nothing has changed at all.
        """

        async def change() -> Linked | LinkRefusal:
            async with self._store.transaction() as conn:
                await conn.execute(QUERIES["one_at_a_time"])
                other = await take_confirmed(conn, account_id, now)
                return LinkRefusal.NOBODY_ASKS if other is None else await self._link(conn, account_id, other, now)

        linked = await self._store.retrying(change)
        if isinstance(linked, Linked):
            self._revisions.announce(*linked.owners)
        return linked

    async def unlink(
        self, account_id: int, now: datetime, *, actor: Account | None = None, via: str = "/unlink"
    ) -> Unlinked | None:
        """Part an account from those linked to it; None when it is linked to none.

        What was learned about it, or on its platform, goes with it, if its kind of account can own memories. Each
        account keeps the level and every blacklist entry that held for the person.

        Args:
            account_id: The account that leaves.
            now: The moment.
            actor: Who does it; None for an operator.
            via: The command, for the audit trail.

        Raises:
            agent.plugin_host.HookFailed: a plugin could not do its part; then nothing has changed at all.

        """

        async def change() -> Unlinked | None:
            async with self._store.transaction() as conn:
                await conn.execute(QUERIES["one_at_a_time"])
                return await self._unlink(conn, account_id, now, actor, via)

        unlinked = await self._store.retrying(change)
        if unlinked is not None:
            self._revisions.announce(*unlinked.owners)
        return unlinked

    async def accounts(self, account_id: int) -> tuple[Account, ...]:
        """Return an account with those that are linked to it, by ascending id; none when there is no such account."""
        async with self._store.connection() as conn:
            return await accounts_of(conn, account_id)

    async def people(self) -> tuple[Person, ...]:
        """Return everybody with several accounts, hidden people too: for operators."""
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["links"])
        return tuple(
            Person(user_id, tuple(account_from(row) for row in group), min(row["linked_at"] for row in group))
            for user_id, group in ((key, list(lines)) for key, lines in groupby(rows, lambda row: row["user_id"]))
        )

    async def _link(self, conn: Connection, account_id: int, other_id: int, now: datetime) -> Linked | LinkRefusal:
        await conn.fetch(QUERIES["lock_people"], [account_id, other_id])
        first, second = await accounts_of(conn, account_id), await accounts_of(conn, other_id)
        if (refusal := why_not(first, second)) is not None:
            return refusal
        users = (first[0].user_id, second[0].user_id)
        kept = kept_user(*users)
        if kept is None:
            kept = await conn.fetchval(QUERIES["new_user"], now)
        level = strictest(account.privacy for account in (*first, *second))
        looks = [_look(Act.LINKED, "/link", other_id, account_id), _look(Act.LINKED, "/link", account_id, other_id)]
        await self._audit.record(looks, now, conn)  # before they are one person, whose own acts are not written down
        await conn.execute(QUERIES["join"], _ids((*first, *second)), kept, level, now)
        for going, staying in ((first, second), (second, first)):
            held = going[0].user_id
            if held is not None:
                await conn.execute(QUERIES["fix_trail"], held, going[0].account_id)
            if held is not None and held != kept:
                await conn.execute(QUERIES["move_notices"], held, kept)
                await move(conn, self._hooks, UserMove(held, kept, going, staying, is_whole=True), now)
        await conn.execute(QUERIES["drop_requests_between"], _ids((*first, *second)))
        owners = await _raise(conn, (*first, *second), {*users, kept})
        other = next(account for account in second if account.account_id == other_id)
        return Linked(kept, (*first, *second), other, level, owners)

    async def _unlink(
        self, conn: Connection, account_id: int, now: datetime, actor: Account | None, via: str
    ) -> Unlinked | None:
        await conn.fetch(QUERIES["lock_people"], [account_id])
        accounts = await accounts_of(conn, account_id)
        others = tuple(account for account in accounts if account.account_id != account_id)
        if not others:
            return None
        (leaving,) = [account for account in accounts if account.account_id == account_id]
        user_id = leaving.user_id
        if user_id is None:
            raise LookupError(f"account {account_id} is linked, and has no user row")
        parting = part(leaving, others)
        going, staying = (others, (leaving,)) if parting.leaver_keeps else ((leaving,), others)
        target = await conn.fetchval(QUERIES["new_user"], now) if parting.needs_new else None
        await conn.execute(QUERIES["share_blacklists"], _ids(accounts))
        await conn.execute(QUERIES["leave"], _ids(going), target)
        if len(staying) == 1:
            await conn.execute(QUERIES["alone"], _ids(staying))
        counts = await move(conn, self._hooks, UserMove(user_id, target, going, staying, is_whole=False), now)
        acting = None if actor is None else actor.account_id
        await self._audit.record([_look(Act.UNLINKED, via, acting, each.account_id) for each in accounts], now, conn)
        return Unlinked(
            account=leaving,
            others=others,
            level=strictest(account.privacy for account in accounts),
            leaver_keeps=parting.leaver_keeps,
            owned_apart=parting.needs_new,
            went=counts.get("went", 0),
            stayed=counts.get("stayed", 0),
            owners=await _raise(conn, accounts, {user_id, target}),
        )


async def dissolve(conn: Connection, account_ids: Sequence[int]) -> None:
    """Part the accounts of somebody who is forgotten, on the transaction and under the locks of the erasure.

    Nothing is left that would say that they are one person. The user row stays with one that can own memories; another
    one gets a row when it speaks again.
    """
    await conn.execute(QUERIES["drop_requests"], account_ids)
    if not account_ids[1:]:
        return
    accounts = [account_from(row) for row in await conn.fetch(QUERIES["accounts"], account_ids)]
    keeper = next((each for each in accounts if each.key.kind.owns_memories), accounts[0])
    await conn.execute(QUERIES["share_blacklists"], account_ids)
    await conn.execute(QUERIES["leave"], [each for each in account_ids if each != keeper.account_id], None)
    await conn.execute(QUERIES["alone"], [keeper.account_id])


async def _raise(conn: Connection, accounts: Sequence[Account], users: Iterable[int | None]) -> tuple[str, ...]:
    """Raise the revisions of all that may show the accounts; return the owners."""
    servers = [row["server_id"] for row in await conn.fetch(QUERIES["servers"], _ids(accounts))]
    owners = (*(user_owner(user) for user in users if user is not None), *map(server_owner, servers))
    await bump(conn, owners)
    return owners


def _look(act: Act, via: str, actor: int | None, about: int) -> Look:
    return Look(act, via, actor, None, about_account_id=about)


def _ids(accounts: Iterable[Account]) -> list[int]:
    return [account.account_id for account in accounts]
