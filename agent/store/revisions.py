"""The revision of each owner of cached state: raised in the transaction that changes it, read before it is used."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping

import asyncpg

from agent.logs import get_logger
from agent.store.connect import Connection
from agent.store.errors import StoreError
from agent.store.pool import Store
from agent.store.queries import load_queries

QUERIES = load_queries(__name__)
CHANNEL = "isthmus_revisions"
#: PostgreSQL takes 8000 bytes in a notification.
_LONGEST_PAYLOAD = 7900
#: Raises within this time travel together.
_GATHER_SECONDS = 0.02
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
#: More than this is not worth telling: the others find out when they read the revision.
_MOST_PENDING = 10_000

log = get_logger(__name__)


async def bump(connection: Connection, owners: Iterable[str]) -> Mapping[str, int]:
    """Raise the revisions of `owners` inside the caller's transaction; return the new ones.

    The rows stay locked until the transaction ends, so this belongs near its end.
    """
    records = await connection.fetch(QUERIES["bump_revisions"], sorted(set(owners)))
    return {record["owner"]: record["revision"] for record in records}


async def read(connection: Connection, owners: Iterable[str]) -> Mapping[str, int]:
    """Return the revisions of `owners`; 0 for one that was never raised."""
    revisions = dict.fromkeys(owners, 0)
    for record in await connection.fetch(QUERIES["read_revisions"], list(revisions)):
        revisions[record["owner"]] = record["revision"]
    return revisions


class RevisionHints:
    """Tells other processes whose state has changed, and hears it from them, so that they may reload early.

    Only a hint: notifications are sent after the commit (inside the transaction they would serialise every commit),
    and may be lost. `hear` is called with each owner that another process has changed.
    """

    def __init__(self, store: Store, hear: Callable[[str], None]) -> None:
        self._store = store
        self._hear = hear
        self._name = secrets.token_hex(8)
        self._pending: set[str] = set()
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.connected = asyncio.Event()

    def announce(self, owners: Iterable[str]) -> None:
        """Have the other processes told, soon. Call it after the commit; it neither waits nor fails."""
        if len(self._pending) < _MOST_PENDING:
            self._pending.update(owners)
            self._wake.set()

    def start(self) -> None:
        """Begin to listen and to tell, in a task of its own."""
        self._task = asyncio.create_task(self._run(), name="revision hints")

    async def stop(self) -> None:
        """End the task."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    async def _run(self) -> None:
        pause = _FIRST_PAUSE
        while True:
            try:
                async with self._store.dedicated() as connection:
                    await connection.add_listener(CHANNEL, self._received)
                    connection.add_termination_listener(lambda _: self._wake.set())
                    self.connected.set()
                    pause = _FIRST_PAUSE
                    await self._tell(connection)
            except (StoreError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
                log.debug("revision_hints_interrupted", error=type(error).__name__)
            self.connected.clear()
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    async def _tell(self, connection: asyncpg.Connection[asyncpg.Record]) -> None:
        while not connection.is_closed():
            await self._wake.wait()
            await asyncio.sleep(_GATHER_SECONDS)
            self._wake.clear()
            owners, self._pending = self._pending, set()
            for payload in payloads(self._name, sorted(owners)):
                await connection.execute(QUERIES["notify_revisions"], CHANNEL, payload)

    def _received(self, _connection: object, _pid: int, _channel: str, payload: object) -> None:
        try:
            sender, *owners = json.loads(str(payload))
        except (ValueError, TypeError):  # somebody else's
            return
        if sender != self._name:
            for owner in owners:
                self._hear(str(owner))


def payloads(sender: str, owners: Iterable[str]) -> Iterator[str]:
    """Yield notifications, each a JSON list of the sender and owners, none longer than PostgreSQL takes."""
    batch = [sender]
    length = len(sender) + 4
    for owner in owners:
        size = len(json.dumps(owner)) + 2
        if length + size > _LONGEST_PAYLOAD and len(batch) > 1:
            yield json.dumps(batch)
            batch, length = [sender], len(sender) + 4
        if length + size <= _LONGEST_PAYLOAD:
            batch.append(owner)
            length += size
    if len(batch) > 1:
        yield json.dumps(batch)
