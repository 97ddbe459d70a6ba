"""Keeps the locks that tell other processes that this one is alive and which bot accounts it serves."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Final

from agent import logs
from agent.store.errors import StoreError
from agent.store.worker import lock_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    import asyncpg

    from agent.store.pool import Store

log = logs.get_logger(__name__)

_PAUSE: Final = 0.5
_TAKEOVER_PATIENCE: Final = 2.0
"""Seconds that a lock may still be held by a process that is just dying."""


class AlreadyServed(Exception):
    """Another process serves this bot account from the same database."""


class Presence:
    """A connection of its own that holds the advisory locks of this worker for as long as the process lives.

    When the connection is lost the locks are taken again at once; until then another process may take over what
    this one runs, which is why each effect and each answer is fenced by the worker's number in its own row.
    """

    def __init__(self, store: Store, worker: int, identities: Sequence[str]) -> None:
        self._store = store
        self._worker = worker
        self._identities = identities
        self._held = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Take the locks.

        Raises:
            AlreadyServed: another process holds the lock of a bot account.
        """
        self._task = asyncio.create_task(self._hold(), name="presence")
        held = asyncio.create_task(self._held.wait())
        try:
            await asyncio.wait({self._task, held}, return_when=asyncio.FIRST_COMPLETED)
            if self._task.done():
                await self._task
        finally:
            held.cancel()

    async def stop(self) -> None:
        """Let go of the locks."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError, AlreadyServed):
                await self._task

    async def _hold(self) -> None:
        while True:
            try:
                async with self._store.dedicated() as conn:
                    await self._lock(conn)
                    self._held.set()
                    await self._until_lost(conn)
            except AlreadyServed:
                if not self._held.is_set():
                    raise
                log.critical("bot_account_taken", remedy="stop the other isthmus run")
            except StoreError as error:
                log.warning("presence_lost", reason=str(error))
            await asyncio.sleep(_PAUSE)

    async def _lock(self, conn: asyncpg.Connection[Any]) -> None:
        await conn.execute("SELECT pg_advisory_lock($1)", self._worker)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _TAKEOVER_PATIENCE
        for identity in self._identities:
            while not await conn.fetchval("SELECT pg_try_advisory_lock($1)", lock_number(identity)):
                if loop.time() > deadline:
                    bridge = identity.partition("/")[0]
                    raise AlreadyServed(
                        f"bridge {bridge}: another isthmus run already serves this account; "
                        "stop that one first (only one process may answer for an account)"
                    )
                await asyncio.sleep(0.1)

    @staticmethod
    async def _until_lost(conn: asyncpg.Connection[Any]) -> None:
        lost = asyncio.Event()
        conn.add_termination_listener(lambda _conn: lost.set())
        if not conn.is_closed():
            await lost.wait()
