"""A PostgreSQL for tests: one cluster a session, in memory where that is possible, and a fresh database a test.

A fresh database is a copy of a template that was migrated once, and takes about 15 ms.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

from agent.store.connect import connect
from agent.store.embedded import EmbeddedServer
from agent.store.migrate import migrate
from agent.store.migration_sets import MigrationSet

#: Nothing here needs to survive; everything that only makes writes durable is off.
SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "shared_buffers": "64MB",
    "dynamic_shared_memory_type": "mmap",  # in its directory, so that a killed server leaves nothing elsewhere
}
_MEMORY = Path("/dev/shm")  # noqa: S108  # a tmpfs, which is the point
_PREFIX = "isthmus-test-"


class DatabaseCluster:
    """A running server for tests. Its methods block; they may be called beside a running event loop."""

    def __init__(self, server: EmbeddedServer) -> None:
        self._server = server
        self._numbers = count(1)

    def url(self, database: str = "postgres") -> str:
        """Return the address of one of its databases."""
        return re.sub(r"/postgres\?", f"/{database}?", self._server.dsn)

    def create(self, template: str | None = None) -> str:
        """Create a database, empty or a copy of `template`, and return its name."""
        name = f"test_{next(self._numbers)}"
        like = f'TEMPLATE "{template}" STRATEGY file_copy' if template else "TEMPLATE template0 STRATEGY file_copy"
        self._execute(f'CREATE DATABASE "{name}" {like}')
        return name

    def create_template(self, sets: Sequence[MigrationSet]) -> str:
        """Create a database with the given migrations, to be copied, and return its name."""
        name = self.create()
        _blocking(migrate(self.url(name), sets))
        return name

    def drop(self, database: str) -> None:
        """Drop a database, whoever is still connected to it."""
        self._execute(f'DROP DATABASE IF EXISTS "{database}" WITH (FORCE)')

    @contextlib.contextmanager
    def fresh(self, template: str | None = None) -> Iterator[str]:
        """Create a database, give its address, and drop it."""
        name = self.create(template)
        try:
            yield self.url(name)
        finally:
            self.drop(name)

    def _execute(self, statement: str) -> None:
        async def execute() -> None:
            connection = await connect(self.url())
            try:
                await connection.execute(statement)
            finally:
                await connection.close()

        _blocking(execute())


@contextlib.contextmanager
def running_cluster() -> Iterator[DatabaseCluster]:
    """Run a cluster of one's own in a temporary directory that is removed afterwards."""
    remove_leftovers()
    with temporary_data_directory() as directory:
        server = EmbeddedServer(directory, settings=SETTINGS, durable=False)
        server.ensure_running()
        try:
            yield DatabaseCluster(server)
        finally:
            server.stop()


@contextlib.contextmanager
def temporary_data_directory() -> Iterator[Path]:
    """Give a short-lived directory, in memory where that is possible; short enough for a socket."""
    directory = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=temporary_parent()))
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def temporary_parent() -> Path:
    """Return where temporary directories go: memory, where it is writable."""
    return _MEMORY if os.access(_MEMORY, os.W_OK) else Path(tempfile.gettempdir())


def remove_leftovers() -> None:
    """Remove what sessions that were killed have left behind."""
    for directory in temporary_parent().glob(f"{_PREFIX}*"):
        pid = directory.name.removeprefix(_PREFIX).partition("-")[0]
        with contextlib.suppress(ValueError, PermissionError):
            try:
                os.kill(int(pid), 0)
            except ProcessLookupError:
                shutil.rmtree(directory, ignore_errors=True)


def _blocking[T](work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end in a thread, whether or not this thread runs an event loop."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
