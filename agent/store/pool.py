"""The store: a pool of connections that outlives restarts of the server."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from agent.store.connect import CONNECT_SECONDS, LOST, SERVER_SETTINGS, connect, explain, place, prepare
from agent.store.errors import DatabaseUnavailable, EmbeddedServerError, StoreError

type PooledConnection = PoolConnectionProxy[asyncpg.Record]

POOL_SIZE = 16
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0
#: A unit of work that may run again after these; the transaction was rolled back.
_AGAIN = (
    DatabaseUnavailable,
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.InvalidCachedStatementError,
)


class Server(Protocol):
    """Where the database is. The methods may block; they are called in a thread."""

    @property
    def dsn(self) -> str:
        """The address for clients."""
        ...

    def ensure_running(self) -> None:
        """Return when the server may be connected to; raise StoreError when it cannot run."""
        ...

    def stop(self) -> None:
        """Stop what this process started."""
        ...


class ExternalServer:
    """A server that somebody else runs."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn

    def ensure_running(self) -> None:
        """Nothing: it runs or it does not."""

    def stop(self) -> None:
        """Nothing: it is not ours."""


def server_for(url: str, data_dir: Path) -> Server:
    """Return the server that `[database] url` names: `embedded`, or an address."""
    if url != "embedded":
        return ExternalServer(url)
    from agent.store.embedded import EmbeddedServer  # it needs a Unix

    return EmbeddedServer(data_dir)


class Store:
    """The database. Use it as `async with Store(server) as store`, or `open` and `close` it.

    Connections go back to the pool without a reset, which would cost a round trip: so whoever borrows one leaves
    nothing in its session. `SET LOCAL` and transaction locks are fine; LISTEN, session locks and plain SET belong
    on a connection of one's own (`dedicated`). An open transaction is rolled back in any case.
    """

    def __init__(self, server: Server, *, size: int = POOL_SIZE, settings: Mapping[str, str] | None = None) -> None:
        self._server = server
        self._size = size
        self._settings = {**SERVER_SETTINGS, **(settings or {})}
        self._pool: asyncpg.Pool[asyncpg.Record] | None = None
        self._revival = asyncio.Lock()

    @property
    def dsn(self) -> str:
        """The address of the database. It may hold a password: not for logs."""
        return self._server.dsn

    @property
    def place(self) -> str:
        """Where the database is, without user and password."""
        return place(self.dsn)

    async def open(self) -> None:
        """Start the server if it is ours, and connect. Raises StoreError with one line for the operator."""
        if self._pool is not None:
            raise RuntimeError("the store is open already")
        await asyncio.to_thread(self._server.ensure_running)
        try:
            self._pool = await asyncpg.create_pool(
                self.dsn,
                min_size=0,
                max_size=self._size,
                timeout=CONNECT_SECONDS,
                max_cached_statement_lifetime=0,
                statement_cache_size=1000,
                server_settings=self._settings,
                init=prepare,
                reset=_leave_session,
            )
            async with self._pool.acquire():  # what is wrong with the address shows here
                pass
        except (asyncpg.PostgresError, asyncpg.InterfaceError, ValueError, OSError) as error:
            await self.close()
            raise explain(error, self.dsn) from error

    async def close(self) -> None:
        """Close every connection, waiting briefly for those in use; stop the server if this process started it."""
        pool, self._pool = self._pool, None
        try:
            if pool is not None:
                try:
                    await asyncio.wait_for(pool.close(), 5.0)
                except TimeoutError:
                    pool.terminate()
        finally:
            await asyncio.to_thread(self._server.stop)

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    @contextlib.asynccontextmanager
    async def connection(self) -> AsyncIterator[PooledConnection]:
        """Borrow a connection; each statement on it commits by itself.

        Raises DatabaseUnavailable when there is none, or when it is lost on the way.
        """
        pool = self._opened()
        borrowed = await self._acquire(pool)
        try:
            yield borrowed
        except LOST as error:
            raise explain(error, self.dsn) from error
        except asyncpg.InternalClientError as error:  # the server's farewell came between two statements
            borrowed.terminate()
            raise self._lost() from error
        except (asyncpg.InterfaceError, OSError) as error:
            if _is_gone(borrowed):
                raise self._lost() from error
            raise
        finally:
            await self._release(pool, borrowed)

    @contextlib.asynccontextmanager
    async def transaction(self) -> AsyncIterator[PooledConnection]:
        """Borrow a connection with an open transaction (READ COMMITTED): committed at the end, or rolled back.

        After DatabaseUnavailable it is not known whether the transaction was committed.
        """
        async with self.connection() as borrowed, borrowed.transaction():
            yield borrowed

    @contextlib.asynccontextmanager
    async def dedicated(self) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
        """Open a connection of one's own, for LISTEN and session locks; closed at the end."""
        try:
            own = await connect(self.dsn, self._settings)
        except DatabaseUnavailable:
            await self._revive()
            own = await connect(self.dsn, self._settings)
        try:
            yield own
        except LOST as error:
            raise explain(error, self.dsn) from error
        except asyncpg.InternalClientError as error:
            own.terminate()
            raise self._lost() from error
        except (asyncpg.InterfaceError, OSError) as error:
            if own.is_closed():
                raise self._lost() from error
            raise
        finally:
            with contextlib.suppress(asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
                await own.close(timeout=2.0)

    async def retrying[T](self, work: Callable[[], Awaitable[T]], *, patience: float = 30.0) -> T:
        """Run a unit of work that may safely run twice until it succeeds or `patience` seconds have passed.

        Repeated are a lost database, a deadlock and a failed serialisation; the last error is raised as it is, and
        at once when the store was closed.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + patience
        pause = _FIRST_PAUSE
        while True:
            try:
                return await work()
            except _AGAIN:
                if self._pool is None or loop.time() + pause > deadline:
                    raise
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    def _lost(self) -> StoreError:
        return explain(ConnectionError("the connection was lost"), self.dsn)

    def _opened(self) -> asyncpg.Pool[asyncpg.Record]:
        if self._pool is None:
            raise DatabaseUnavailable("the store is closed")
        return self._pool

    async def _acquire(self, pool: asyncpg.Pool[asyncpg.Record]) -> PooledConnection:
        try:
            return await pool.acquire(timeout=CONNECT_SECONDS)
        except TimeoutError as error:
            raise self._busy(pool, error) from error
        except (*LOST, OSError):
            await self._revive()
        except (asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            raise explain(error, self.dsn) from error
        try:
            return await pool.acquire(timeout=CONNECT_SECONDS)
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            raise explain(error, self.dsn) from error

    def _busy(self, pool: asyncpg.Pool[asyncpg.Record], error: BaseException) -> StoreError:
        if pool.get_size() >= self._size and pool.get_idle_size() == 0:
            return DatabaseUnavailable(f"all {self._size} connections were busy for {CONNECT_SECONDS:.0f} s")
        return explain(error, self.dsn)

    async def _revive(self) -> None:
        """Start the server again if it is ours and gone; one caller does it, the others wait for that."""
        async with self._revival:
            try:
                await asyncio.to_thread(self._server.ensure_running)
            except EmbeddedServerError as error:
                raise DatabaseUnavailable(str(error)) from error

    async def _release(self, pool: asyncpg.Pool[asyncpg.Record], borrowed: PooledConnection) -> None:
        try:
            await pool.release(borrowed)
        except (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError):
            # It was lost while it was rolled back; asyncpg has dropped it. What the borrower met is what counts.
            if not _is_gone(borrowed):
                raise


async def _leave_session(connection: asyncpg.Connection[asyncpg.Record]) -> None:
    """In place of asyncpg's reset; see Store."""


def _is_gone(borrowed: PooledConnection) -> bool:
    try:
        return borrowed.is_closed()
    except asyncpg.InterfaceError:  # the pool has taken it back already
        return True
