"""Forgetting a person: one transaction for the core and every plugin; what is left says that, and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Protocol

from agent.identity.records import account_from
from agent.linking.repository import dissolve
from agent.privacy.repository import lock_person
from agent.store.notices import withdraw_notices
from agent.store.queries import load_queries
from agent.store.revisions import bump
from agent.turn.values import server_owner, user_owner

if TYPE_CHECKING:
    from agent.contracts.people import Account, Speaker
    from agent.store.pool import Store
    from agent.tools import Connection

QUERIES = load_queries(__name__, "erase.sql")
NO_ACCOUNT: Final = -1
"""The id of an account that is none, where an identity is forgotten."""


class Hooks(Protocol):
    """What an erasure needs of the plugin host."""

    async def collect_by_plugin(self, name: str, /, **values: Any) -> list[tuple[str, Any]]:
        """Ask every plugin; one that fails in `erase_person` raises."""
        ...


class StartedHooks(Hooks, Protocol):
    """What finishing erasures needs of it."""

    def implementing(self, hook: str) -> tuple[str, ...]:
        """Return the names of the started plugins that implement a hook."""
        ...

    async def collect_from(self, plugins: Collection[str], name: str, /, **values: Any) -> list[tuple[str, Any]]:
        """Ask some plugins only."""
        ...


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an erasure has removed: counts and the time, no content."""

    account_ids: tuple[int, ...]
    """The account and those linked to it."""
    at: datetime
    counts: Mapping[str, int]
    """Rows by kind: the core's (names, settings, messages, events, outbox, audit), those of the plugins, and the
    notices that are withdrawn: those that stand on a platform are deleted there after the commit."""
    servers: tuple[int, ...]
    """The servers that knew the person."""


async def erase_person(store: Store, hooks: Hooks, account_id: int, now: datetime) -> Receipt:
    """Forget a person and everything that came from or is about the person, linked accounts included.

    Afterwards any write whose source is not later than `now` is refused. Level and blacklist entries stay, for each of
    the accounts, which are not linked any more. Whoever asks announces `agent.store.notices.WITHDRAWN` afterwards, so
    that notices about the person are deleted at once.

    Raises:
        agent.privacy.repository.UnknownPerson: there is no such account.
        agent.plugin_host.HookFailed: a plugin could not do its part; then nothing was removed at all.
    """

    async def erase() -> Receipt:
        async with store.transaction() as conn:
            return await _erase(conn, hooks, account_id, now)

    return await store.retrying(erase)


async def erase_identities(
    store: Store, hooks: Hooks, account: Account, identities: Sequence[Speaker], now: datetime
) -> Receipt:
    """Forget proxied identities that an account hosts, with everything that is about them, in one transaction.

    Raises:
        agent.plugin_host.HookFailed: a plugin could not do its part; then nothing was removed at all.
    """

    async def erase() -> Receipt:
        async with store.transaction() as conn:
            await conn.execute(QUERIES["one_at_a_time"])
            counts: Counter[str] = Counter()
            for identity in sorted(identities, key=lambda each: each.user_id or 0):
                counts.update(await _erase_identity(conn, hooks, account, identity, now))
            return Receipt((account.account_id,), now, dict(counts), ())

    return await store.retrying(erase)


async def _erase_identity(
    conn: Connection, hooks: Hooks, account: Account, identity: Speaker, now: datetime
) -> Counter[str]:
    """Have every plugin let go of an identity, as of a person without an account; its user row goes last."""
    if identity.user_id is None or await conn.fetchval(QUERIES["lock_identity"], identity.user_id) is None:
        return Counter()
    nobody = replace(account, account_id=NO_ACCOUNT, user_id=identity.user_id, key=identity.key, username=None)
    counts: Counter[str] = Counter(identities=1)
    for _, part in await hooks.collect_by_plugin("erase_person", conn=conn, account=nobody):
        counts.update(part)
    counts["notices"] += (await withdraw_notices(conn, now, users=[identity.user_id])).total
    await conn.execute(QUERIES["forget_identity"], identity.user_id)
    await bump(conn, [user_owner(identity.user_id)])
    return counts


async def finish_erasures(store: Store, hooks: StartedHooks) -> int:
    """Have plugins that were switched off during erasures do their part, and return how many were unfinished.

    To be called when the plugins are started and nothing comes in yet: what they hold of these people is older.

    Raises:
        agent.plugin_host.HookFailed: a plugin could not do its part.
    """
    able = hooks.implementing("erase_person")
    async with store.connection() as conn:
        unfinished = [row["erasure_id"] for row in await conn.fetch(QUERIES["unfinished"], able, None)]
    for erasure_id in unfinished:

        async def finish(erasure_id: int = erasure_id) -> None:
            async with store.transaction() as conn:
                await _finish(conn, hooks, able, erasure_id)

        await store.retrying(finish)
    return len(unfinished)


async def _finish(conn: Connection, hooks: StartedHooks, able: Sequence[str], erasure_id: int) -> None:
    await conn.execute(QUERIES["one_at_a_time"])
    row = await conn.fetchrow(QUERIES["unfinished"], able, erasure_id)
    if row is None:
        return  # another process has come before this one
    people = await lock_person(conn, row["account_id"])
    (account,) = [account_from(each) for each in await conn.fetch(QUERIES["accounts"], [row["account_id"]])]
    missing = [plugin for plugin in able if plugin not in row["plugins"]]
    counts = Counter(row["counts"])
    for _, part in await hooks.collect_from(missing, "erase_person", conn=conn, account=account):
        counts.update(part)
    await conn.execute(QUERIES["add_to_receipt"], erasure_id, dict(counts), sorted({*row["plugins"], *missing}))
    await bump(conn, [user_owner(each["user_id"]) for each in people if each["user_id"] is not None])


async def _erase(conn: Connection, hooks: Hooks, account_id: int, now: datetime) -> Receipt:
    await conn.execute(QUERIES["one_at_a_time"])
    people = await lock_person(conn, account_id)
    accounts = [row["account_id"] for row in people]
    users = sorted({row["user_id"] for row in people} - {None})
    known = [account_from(row) for row in await conn.fetch(QUERIES["accounts"], accounts)]
    servers = [row["server_id"] for row in await conn.fetch(QUERIES["servers"], accounts)]
    # From here on a save that waits for the lock sees the moment, and is refused.
    await conn.execute(QUERIES["forget_account"], accounts, now)
    counts = await _erase_core(conn, accounts, users, now)
    done: set[str] = set()
    for account in known:
        for plugin, part in await hooks.collect_by_plugin("erase_person", conn=conn, account=account):
            counts.update(part)
            done.add(plugin)
    # Behind the plugins, which have waited for every save that was under way: its notice is committed by now.
    counts["notices"] += (await withdraw_notices(conn, now, accounts=accounts, users=users)).total
    await dissolve(conn, accounts)
    await conn.executemany(
        QUERIES["keep_receipt"], [(account_id, now, dict(counts), sorted(done)) for account_id in accounts]
    )
    await bump(conn, [*map(user_owner, users), *map(server_owner, servers)])
    return Receipt(tuple(accounts), now, dict(counts), tuple(servers))


async def _erase_core(conn: Connection, accounts: list[int], users: list[int], now: datetime) -> Counter[str]:
    await conn.execute(QUERIES["forget_confirmations"], accounts)
    await conn.execute(QUERIES["forget_actor"], accounts)
    events = await conn.fetch(QUERIES["abandon_events"], accounts, now)
    keys = ([row["platform"] for row in events], [row["event_id"] for row in events])
    return Counter(
        {
            "events": len(events),
            "outbox": _count(await conn.execute(QUERIES["cancel_outbox"], accounts, *keys, now)),
            "messages": _count(await conn.execute(QUERIES["forget_messages"], accounts, users))
            + _count(await conn.execute(QUERIES["forget_relayed"], accounts, now)),
            "names": _count(await conn.execute(QUERIES["forget_names"], accounts)),
            "settings": _count(await conn.execute(QUERIES["forget_settings"], accounts)),
            "audit": _count(await conn.execute(QUERIES["forget_acts"], accounts, users)),
        }
    )


def _count(tag: str) -> int:
    """Return the number of rows of a command tag, as in `DELETE 3`."""
    return int(tag.rpartition(" ")[2])
