"""What a user row holds goes to another one: every plugin moves its part, those that were switched off later."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from agent.contracts.links import UserMove
from agent.identity.records import account_from
from agent.store.queries import load_queries
from agent.store.revisions import bump
from agent.turn.values import user_owner

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.contracts.people import Account
    from agent.store.pool import Store
    from agent.tools import Connection

QUERIES = load_queries("agent.linking")


class Hooks(Protocol):
    """What a move needs of the plugin host."""

    async def collect_by_plugin(self, name: str, /, **values: Any) -> list[tuple[str, Any]]:
        """Ask every plugin; one that fails in `move_user` raises."""
        ...


class StartedHooks(Hooks, Protocol):
    """What finishing moves needs of it."""

    def implementing(self, hook: str) -> tuple[str, ...]:
        """Return the names of the started plugins that implement a hook."""
        ...

    async def collect_from(self, plugins: Collection[str], name: str, /, **values: Any) -> list[tuple[str, Any]]:
        """Ask some plugins only."""
        ...


async def move(conn: Connection, hooks: Hooks, asked: UserMove, now: datetime) -> Mapping[str, int]:
    """Have every plugin move its part, under the locks of the people; return how much `went` and `stayed`.

    Raises:
        agent.plugin_host.HookFailed: a plugin could not do its part; the transaction must roll back.
    """
    counts: Counter[str] = Counter()
    done: set[str] = set()
    for plugin, part in await hooks.collect_by_plugin("move_user", conn=conn, move=asked):
        counts.update(part)
        done.add(plugin)
    going, staying = _ids(asked.going), _ids(asked.staying)
    values = (asked.from_user_id, asked.to_user_id, going, staying, asked.is_whole, now, sorted(done))
    await conn.execute(QUERIES["keep_move"], *values)
    return counts


async def finish_moves(store: Store, hooks: StartedHooks) -> int:
    """Have plugins that were switched off when accounts were linked do their part; return how many moves were waiting.

    To be called when the plugins are started and nothing comes in yet, before erasures are finished: what was the
    person's when they asked to be forgotten is then where the erasure looks for it.

    Raises:
        agent.plugin_host.HookFailed: a plugin could not do its part.
    """
    able = hooks.implementing("move_user")
    async with store.connection() as conn:
        unfinished = [row["move_id"] for row in await conn.fetch(QUERIES["unfinished"], able, None)]
    for move_id in unfinished:

        async def finish(move_id: int = move_id) -> None:
            async with store.transaction() as conn:
                await _finish(conn, hooks, able, move_id)

        await store.retrying(finish)
    return len(unfinished)


async def _finish(conn: Connection, hooks: StartedHooks, able: Sequence[str], move_id: int) -> None:
    await conn.execute(QUERIES["one_at_a_time"])
    row = await conn.fetchrow(QUERIES["unfinished"], able, move_id)
    if row is None:
        return  # another process has come before this one
    await conn.fetch(QUERIES["lock_people"], [*row["going"], *row["staying"]])
    asked = UserMove(
        row["from_user_id"],
        row["to_user_id"],
        await _accounts(conn, row["going"]),
        await _accounts(conn, row["staying"]),
        row["is_whole"],
    )
    missing = [plugin for plugin in able if plugin not in row["plugins"]]
    await hooks.collect_from(missing, "move_user", conn=conn, move=asked)
    await conn.execute(QUERIES["finish_move"], move_id, sorted({*row["plugins"], *missing}))
    users = {asked.from_user_id, asked.to_user_id} - {None}
    await bump(conn, [user_owner(user_id) for user_id in users if user_id is not None])


async def _accounts(conn: Connection, account_ids: Sequence[int]) -> tuple[Account, ...]:
    return tuple(account_from(row) for row in await conn.fetch(QUERIES["accounts"], account_ids))


def _ids(accounts: Collection[Account]) -> list[int]:
    return [account.account_id for account in accounts]
