"""How every connection is opened: time-outs, codecs, and what a failure to connect means."""

from __future__ import annotations

import functools
import json
import socket
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from agent.store.errors import DatabaseRefused, DatabaseUnavailable, StoreError

#: A connection, whether borrowed from the pool or one's own.
type Connection = asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]

#: Milliseconds. A statement that runs longer is a fault; a lock held longer is somebody's mistake.
SERVER_SETTINGS: Mapping[str, str] = {
    "application_name": "isthmus",
    "timezone": "UTC",
    "statement_timeout": "15000",
    "lock_timeout": "10000",
    "idle_in_transaction_session_timeout": "30000",
}
CONNECT_SECONDS = 10.0
#: A peer that vanished without a word (no RST, no FIN) is noticed after so many seconds.
_SILENT_PEER_SECONDS = 30

#: What the driver raises when the server goes, is going, has not come yet, takes no more clients, or has no room.
LOST = (
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.InsufficientResourcesError,
)

_dump_json = functools.partial(json.dumps, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


async def prepare(connection: asyncpg.Connection[asyncpg.Record]) -> None:
    """Set up a new connection: jsonb columns are Python values, both ways."""
    await connection.set_type_codec("jsonb", schema="pg_catalog", encoder=_dump_json, decoder=json.loads)
    _notice_silent_peer(connection)


async def connect(dsn: str, settings: Mapping[str, str] | None = None) -> asyncpg.Connection[asyncpg.Record]:
    """Open a connection of one's own, outside any pool. Raises DatabaseUnavailable or DatabaseRefused."""
    try:
        connection: asyncpg.Connection[asyncpg.Record] = await asyncpg.connect(
            dsn, timeout=CONNECT_SECONDS, server_settings={**SERVER_SETTINGS, **(settings or {})}
        )
    except (asyncpg.PostgresError, asyncpg.InterfaceError, ValueError, OSError) as error:
        raise explain(error, dsn) from error
    await prepare(connection)
    return connection


def explain(error: BaseException, dsn: str) -> StoreError:
    """Return what a failure to connect means for the operator. No password gets into it."""
    where = place(dsn)
    reason = first_line(error)
    if isinstance(error, asyncpg.DiskFullError):
        return DatabaseUnavailable(f"the disk of the database at {where} is full ({reason}): free some space")
    if isinstance(error, (*LOST, OSError)):
        reason = "it did not answer in time" if isinstance(error, TimeoutError) else reason
        return DatabaseUnavailable(f"the database at {where} cannot be reached ({reason}): check that it runs")
    return DatabaseRefused(f"the database at {where} refused the connection ({reason}): check [database] url")


def first_line(error: BaseException) -> str:
    """Return what an error says, without the details and hints that PostgreSQL adds in further lines."""
    return str(error).partition("\n")[0] or type(error).__name__


def place(dsn: str) -> str:
    """Return the host and database of an address, without user and password."""
    try:
        parts = urlsplit(dsn)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "(an address that cannot be read)"
    if not parts.hostname:
        return "the embedded server"
    return f"{parts.hostname}{port}{parts.path}"


def _notice_silent_peer(connection: asyncpg.Connection[Any]) -> None:
    """Have the kernel end a TCP connection whose other side is gone, so that nobody waits for ever."""
    peer: socket.socket | None = connection._transport.get_extra_info("socket")  # type: ignore[attr-defined]  # noqa: SLF001  # asyncpg has no option for it
    if peer is None or peer.family == socket.AF_UNIX:
        return
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (
        ("TCP_KEEPIDLE", _SILENT_PEER_SECONDS // 2),
        ("TCP_KEEPINTVL", _SILENT_PEER_SECONDS // 6),
        ("TCP_KEEPCNT", 3),
        ("TCP_USER_TIMEOUT", _SILENT_PEER_SECONDS * 1000),
    ):
        if hasattr(socket, option):  # not every system has each
            peer.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
