"""Notices that stand on a platform and are to go: withdrawals are rows of the outbox, once for each message."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from agent.bridge import SentMessage
from agent.store.queries import load_queries
from agent.store.worker import dead_workers

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from agent.clock import Clock
    from agent.store.pool import Store
    from agent.tools import Connection

QUERIES = load_queries(__name__, "notices.sql")

WITHDRAWN: Final = "notices"
"""Announced after the commit (`agent.invalidation`), so that whoever serves the platforms withdraws at once."""
AT_ONCE: Final = 100
FIRST_PAUSE: Final = timedelta(seconds=30)
LONGEST_PAUSE: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """How many notices a transaction has taken back."""

    cancelled: int
    """They were not sent yet, and never will be."""
    posted: int
    """They stand on a platform and are deleted there after the commit."""
    unknown: int
    """Nobody knows whether they stand anywhere."""

    @property
    def total(self) -> int:
        """Return all of those that are known."""
        return self.cancelled + self.posted


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """A message that is to go."""

    outbox_id: int
    message: SentMessage
    attempts: int = 0


async def withdraw_notices(
    conn: Connection,
    now: datetime,
    *,
    memories: Iterable[int] = (),
    accounts: Iterable[int] = (),
    users: Iterable[int] = (),
) -> Withdrawn:
    """Take back, with the caller's transaction, the notices about any of these; announce `WITHDRAWN` after it."""
    row = await conn.fetchrow(QUERIES["withdraw"], list(memories), list(accounts), list(users), now)
    return Withdrawn(0, 0, 0) if row is None else Withdrawn(row["cancelled"], row["posted"], row["unknown"])


def next_try(attempts: int, now: datetime) -> datetime:
    """Return when a withdrawal that did not come about is tried again."""
    return now + min(FIRST_PAUSE * (1 << min(attempts, 10)), LONGEST_PAUSE)


class WithdrawalRows:
    """The withdrawals, as the worker that serves their platforms takes and settles them."""

    def __init__(self, store: Store, clock: Clock, worker: int) -> None:
        self._store = store
        self._clock = clock
        self._worker = worker

    async def take(self, platforms: Iterable[str]) -> tuple[Withdrawal, ...]:
        """Take what is due on these platforms, that of dead workers and of nobody included."""
        names, now = list(platforms), self._clock.now()
        async with self._store.transaction() as conn:
            holders = {row["worker"] for row in await conn.fetch(QUERIES["holders"], names, now)}
            if not holders:
                return ()
            dead = await dead_workers(conn, sorted(holders - {self._worker}))
            rows = await conn.fetch(QUERIES["take"], names, [self._worker, *dead], now, AT_ONCE, self._worker)
        return tuple(
            Withdrawal(
                row["outbox_id"], SentMessage(row["platform"], row["channel"], row["message_id"]), row["attempts"]
            )
            for row in rows
        )

    async def settle(self, withdrawal: Withdrawal, state: str, reason: str | None = None) -> None:
        """Commit what became of one: `sent` when the message is gone, `failed`, or `unsupported`."""
        async with self._store.connection() as conn:
            await conn.execute(QUERIES["settle"], withdrawal.outbox_id, state, reason, self._clock.now())

    async def put_off(self, withdrawal: Withdrawal, reason: str) -> None:
        """Have it tried again later; it is never given up for a failure that passes."""
        due = next_try(withdrawal.attempts, self._clock.now())
        async with self._store.connection() as conn:
            await conn.execute(QUERIES["put_off"], withdrawal.outbox_id, due, reason)
