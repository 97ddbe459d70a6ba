"""Resolves channel scopes by name in the background, as channels become known: a batch a transaction."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Final

import asyncpg

from agent import logs
from agent.privacy.repository import UnknownServer, lock_server
from agent.store.errors import StoreError
from agent.store.revisions import bump
from agent.turn.values import server_owner
from plugins.memory.repository import Actor
from plugins.memory.scope_rules import Settled

if TYPE_CHECKING:
    from agent.clock import Clock
    from agent.store.pool import Store
    from plugins.memory.saving import Announces
    from plugins.memory.scope_rows import ScopeRows

_log = logs.get_logger("plugins.memory")

BATCH: Final = 100
"""Memories that are looked at in one transaction, so that the server's lock is never held for long."""
PAUSE: Final = 30.0
"""Seconds until the work is tried again after the database was away."""
BACKFILL: Final = Actor(None, None, "scope_backfill")


class ScopeBackfill:
    """Runs once for every server at the start, and again for each of which a channel is news.

    Running it again, or in two processes at once, changes nothing that is settled already. What is unknown or ambiguous
    stays pending, for a channel that is yet to be seen or for somebody who manages the server.
    """

    def __init__(
        self, store: Store, rows: ScopeRows, revisions: Announces, clock: Clock, *, batch: int = BATCH
    ) -> None:
        self._store = store
        self._rows = rows
        self._revisions = revisions
        self._clock = clock
        self._batch = batch
        self._waiting: dict[int | None, None] = {}
        """The servers that are to be looked at; None stands for all."""
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._is_idle = asyncio.Event()
        self._is_idle.set()

    def start(self) -> None:
        """Begin with every server that has something pending."""
        self._task = asyncio.create_task(self._run(), name="scope backfill")
        self.wake()

    async def stop(self) -> None:
        """End; a transaction that is under way is rolled back."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    def wake(self, server_id: int | None = None) -> None:
        """Have a server looked at soon; None: all of them."""
        self._waiting[server_id] = None
        self._is_idle.clear()
        self._wake.set()

    async def idle(self) -> None:
        """Return when nothing is left to look at."""
        await self._is_idle.wait()

    async def settle(self, server_id: int) -> int:
        """Settle what can be settled in a server now; return how many memories got their channels."""
        settled, after = 0, 0
        while True:
            found, last = await self._settle_batch(server_id, after)
            settled += found
            if last is None:
                return settled
            after = last

    async def _settle_batch(self, server_id: int, after: int) -> tuple[int, int | None]:
        """Settle one batch; return how many were settled, and behind which id to go on (None: at the end)."""
        owner = server_owner(server_id)
        async with self._store.transaction() as conn:
            try:
                await lock_server(conn, server_id)
            except UnknownServer:
                return 0, None
            pending = await self._rows.read(conn, server_id, after=after, limit=self._batch)
            known = {each.memory_id: each.scope.channel_ids for each in pending if isinstance(each.scope, Settled)}
            settled: tuple[int, ...] = ()
            if known:
                settled = await self._rows.settle(conn, server_id, known, BACKFILL, self._clock.now(), manually=False)
                await bump(conn, [owner])
        if settled:
            self._revisions.announce(owner)
        return len(settled), pending[-1].memory_id if len(pending) == self._batch else None

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                while self._waiting:
                    await self._look(next(iter(self._waiting)))
            except (StoreError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
                _log.warning("scope_backfill_interrupted", error=type(error).__name__)
                await asyncio.sleep(PAUSE)
                self._wake.set()
            else:
                if not self._wake.is_set():
                    self._is_idle.set()

    async def _look(self, target: int | None) -> None:
        """Look at a server, or find out which ones there are to look at; what comes in meanwhile is not lost."""
        del self._waiting[target]
        try:
            if target is None:
                self._waiting |= dict.fromkeys(await self._rows.servers())
            elif await self._rows.is_waiting(target) and (count := await self.settle(target)):
                _log.info("channel_scopes_settled", count=count)
        except BaseException:
            self._waiting[target] = None
            raise
