import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Self
from urllib.parse import parse_qs, urlsplit

import asyncpg
import pytest

from agent.store import pool as pool_module
from agent.store.embedded import EmbeddedServer
from agent.store.errors import DatabaseRefused, DatabaseUnavailable
from agent.store.pool import ExternalServer, Store, server_for

MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class TcpProxy:
    """A loopback port before the server's socket, to lose connections on the way."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._socket = parse_qs(parts.query)["host"][0] + "/.s.PGSQL.5432"
        self._database = parts.path
        self._writers: list[asyncio.StreamWriter] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1")
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"postgresql://app:secret-word@127.0.0.1:{port}{self._database}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.lose()
        self._server.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def lose(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()
        await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back_reader, back_writer = await asyncio.open_unix_connection(self._socket)
        self._writers += [writer, back_writer]
        for source, target in ((reader, back_writer), (back_reader, writer)):
            task = asyncio.create_task(self._pass_on(source, target))
            self._tasks.add(task)

    async def _pass_on(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await source.read(65536):
                target.write(data)
        target.close()


@pytest.fixture
async def small_store(database_url: str) -> AsyncIterator[Store]:
    async with Store(ExternalServer(database_url), size=1) as opened:
        yield opened


async def count(store: Store) -> int:
    async with store.connection() as connection:
        return int(await connection.fetchval("SELECT count(*) FROM owner_revisions"))


async def test_a_transaction_commits(store: Store) -> None:
    async with store.transaction() as connection:
        await connection.execute("INSERT INTO owner_revisions VALUES ('server:1', 1)")
    assert await count(store) == 1


async def test_a_transaction_that_fails_leaves_nothing(store: Store) -> None:
    async def work() -> None:
        async with store.transaction() as connection:
            await connection.execute("INSERT INTO owner_revisions VALUES ('server:1', 1)")
            raise ValueError("on purpose")

    with pytest.raises(ValueError, match="on purpose"):
        await work()
    assert await count(store) == 0


async def test_values_come_back_as_they_went_in(store: Store) -> None:
    value = {"text": "Ünïcode 👋", "list": [1, 2.5, None, True], "nested": {"a": {}}}
    async with store.connection() as connection:
        row = await connection.fetchrow("SELECT $1::jsonb AS value, $2::timestamptz AS moment", value, MOMENT)
    assert row is not None
    assert row["value"] == value
    assert row["moment"] == MOMENT
    assert row["moment"].tzinfo is not None


async def test_a_statement_that_takes_too_long_is_cancelled(database_url: str) -> None:
    async with Store(ExternalServer(database_url), settings={"statement_timeout": "50"}) as store:
        with pytest.raises(asyncpg.QueryCanceledError):
            async with store.connection() as connection:
                await connection.execute("SELECT pg_sleep(10)")
        assert await count(store) == 0


async def test_an_idle_transaction_is_ended_by_the_server(database_url: str) -> None:
    settings = {"idle_in_transaction_session_timeout": "50"}
    async with Store(ExternalServer(database_url), settings=settings) as store:

        async def work() -> None:
            async with store.transaction() as connection:
                await asyncio.sleep(0.3)
                await connection.execute("SELECT 1")

        with pytest.raises(DatabaseUnavailable):
            await work()
        assert await count(store) == 0


async def test_the_time_outs_are_set_on_every_connection(store: Store) -> None:
    async with store.connection() as connection, store.dedicated() as own:
        for each in (connection, own):
            assert await each.fetchval("SHOW statement_timeout") == "15s"
            assert await each.fetchval("SHOW lock_timeout") == "10s"
            assert await each.fetchval("SHOW idle_in_transaction_session_timeout") == "30s"
            assert await each.fetchval("SHOW timezone") == "UTC"


@pytest.mark.unwatched_loop  # asyncpg reports the fault to the loop, rightly
async def test_an_open_transaction_does_not_go_back_to_the_pool(small_store: Store) -> None:
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    async with small_store.connection() as connection:
        await connection.execute("BEGIN")
        await connection.execute("INSERT INTO owner_revisions VALUES ('server:1', 1)")
    assert await count(small_store) == 0


async def test_what_is_set_locally_ends_with_the_transaction(small_store: Store) -> None:
    async with small_store.transaction() as connection:
        await connection.execute("SET LOCAL statement_timeout = 1234")
        await connection.execute("SELECT pg_advisory_xact_lock(1)")
    async with small_store.connection() as connection:
        assert await connection.fetchval("SHOW statement_timeout") == "15s"
        assert await connection.fetchval("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == 0


async def test_a_cancelled_borrower_gives_its_connection_back(small_store: Store) -> None:
    async def slow() -> None:
        async with small_store.transaction() as connection:
            await connection.execute("INSERT INTO owner_revisions VALUES ('server:1', 1)")
            await connection.execute("SELECT pg_sleep(10)")

    task = asyncio.create_task(slow())
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(2):
        assert await count(small_store) == 0


async def test_many_borrowers_share_a_small_pool(database_url: str) -> None:
    async with Store(ExternalServer(database_url), size=10) as store:

        async def work(number: int) -> None:
            async with store.transaction() as connection:
                await connection.execute("INSERT INTO owner_revisions VALUES ($1, 1)", f"server:{number}")

        await asyncio.gather(*(work(number) for number in range(64)))
        assert await count(store) == 64


async def test_a_pool_that_stays_busy_is_said_to_be_busy(small_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "CONNECT_SECONDS", 0.05)
    async with small_store.connection():
        with pytest.raises(DatabaseUnavailable, match="all 1 connections were busy"):
            await count(small_store)


@pytest.mark.parametrize("farewell", ["between", "within"])
async def test_a_connection_that_the_server_ends(store: Store, farewell: str) -> None:
    async def work() -> None:
        async with store.transaction() as connection, store.connection() as other:
            pid = await connection.fetchval("SELECT pg_backend_pid()")
            await connection.execute("INSERT INTO owner_revisions VALUES ('server:1', 1)")
            ending = other.execute("SELECT pg_terminate_backend($1, 1000)", pid)
            if farewell == "within":
                asleep = asyncio.create_task(connection.execute("SELECT pg_sleep(10)"))
                await asyncio.sleep(0.05)
                await ending
                await asleep
            else:
                await ending
                await connection.execute("SELECT 1")

    with pytest.raises(DatabaseUnavailable, match="cannot be reached"):
        await work()
    assert await count(store) == 0


async def test_a_tcp_connection_that_is_lost(database_url: str) -> None:
    async with TcpProxy(database_url) as proxy, Store(ExternalServer(proxy.url)) as store:
        assert store.place == urlsplit(proxy.url).netloc.partition("@")[2] + urlsplit(proxy.url).path

        async def work() -> None:
            async with store.transaction() as connection:
                await connection.execute("SELECT 1")
                await proxy.lose()
                await connection.execute("SELECT 1")

        with pytest.raises(DatabaseUnavailable) as caught:
            await work()
        assert "secret-word" not in str(caught.value)
        assert await store.retrying(lambda: count(store)) == 0


async def test_a_unit_of_work_survives_a_restart_of_the_server(data_dir: Path) -> None:
    server = EmbeddedServer(data_dir, durable=False)
    await asyncio.to_thread(server.ensure_running)
    async with Store(ExternalServer(server.dsn)) as store:
        attempts = 0

        async def work() -> int:
            nonlocal attempts
            attempts += 1
            async with store.transaction() as connection:
                if attempts == 1:
                    await asyncio.to_thread(server.stop)
                return int(await connection.fetchval("SELECT 42"))

        async def come_back() -> None:
            await asyncio.sleep(0.5)
            await asyncio.to_thread(server.ensure_running)

        answer, _ = await asyncio.gather(store.retrying(work), come_back())
        assert answer == 42
        assert attempts > 1
    await asyncio.to_thread(server.stop)


async def test_an_embedded_server_that_was_lost_is_started_again(data_dir: Path) -> None:
    server = EmbeddedServer(data_dir, durable=False)
    async with Store(server) as store:
        async with store.connection() as connection:
            await connection.execute("CREATE TABLE owner_revisions (n int); INSERT INTO owner_revisions VALUES (1)")
        await asyncio.to_thread(server.stop)
        counts = await asyncio.gather(*(store.retrying(lambda: count(store)) for _ in range(20)))
        assert counts == [1] * 20
        await asyncio.to_thread(server.stop)
        async with store.dedicated() as own:
            assert await own.fetchval("SELECT 1") == 1
    assert not server.started_here


async def test_patience_ends(database_url: str) -> None:
    async with TcpProxy(database_url) as proxy, Store(ExternalServer(proxy.url)) as store:
        proxy._server.close()
        await proxy.lose()
        with pytest.raises(DatabaseUnavailable, match=r"the database at 127\.0\.0\.1:\d+/test_\d+ cannot be reached"):
            await store.retrying(lambda: count(store), patience=0.2)


async def test_a_full_disk_is_told_in_one_line(store: Store) -> None:
    raising = "DO $$ BEGIN RAISE SQLSTATE '53100' USING message = 'no room', hint = 'a hint'; END $$"
    with pytest.raises(DatabaseUnavailable, match=r"^the disk of .* is full \(no room\): free some space$"):
        async with store.connection() as connection:
            await connection.execute(raising)


async def test_other_errors_are_not_repeated(store: Store) -> None:
    attempts = 0

    async def work() -> None:
        nonlocal attempts
        attempts += 1
        async with store.connection() as connection:
            await connection.execute("SELECT 1/0")

    with pytest.raises(asyncpg.DivisionByZeroError):
        await store.retrying(work)
    assert attempts == 1


async def test_an_error_of_the_borrower_is_its_own(store: Store) -> None:
    with pytest.raises(FileNotFoundError):
        async with store.connection():
            raise FileNotFoundError
    with pytest.raises(TimeoutError):
        async with store.transaction():
            raise TimeoutError


async def test_a_deadlock_is_repeated(store: Store) -> None:
    async with store.connection() as connection:
        await connection.execute("INSERT INTO owner_revisions VALUES ('a', 0), ('b', 0)")
    raised = "UPDATE owner_revisions SET revision = revision + 1 WHERE owner = $1"

    async def work(first: str, second: str) -> None:
        async with store.transaction() as connection:
            await connection.execute("SET LOCAL deadlock_timeout = '10ms'")
            await connection.execute(raised, first)
            await asyncio.sleep(0.05)
            await connection.execute(raised, second)

    await asyncio.gather(store.retrying(lambda: work("a", "b")), store.retrying(lambda: work("b", "a")))
    async with store.connection() as connection:
        assert await connection.fetchval("SELECT sum(revision) FROM owner_revisions") == 4


async def test_a_connection_of_ones_own_listens(store: Store) -> None:
    heard: asyncio.Queue[object] = asyncio.Queue()
    async with store.dedicated() as own, asyncio.timeout(2):
        await own.add_listener("test", lambda *arguments: heard.put_nowait(arguments[-1]))
        async with store.connection() as connection:
            await connection.execute("SELECT pg_notify('test', 'hello')")
        assert await heard.get() == "hello"


async def test_a_closed_store_says_so(database_url: str) -> None:
    store = Store(ExternalServer(database_url))
    await store.open()
    await store.close()
    async with asyncio.timeout(1):
        with pytest.raises(DatabaseUnavailable, match="closed"):
            await store.retrying(lambda: count(store))
    await store.open()
    assert await count(store) == 0
    with pytest.raises(RuntimeError, match="open already"):
        await store.open()
    await store.close()


@pytest.mark.parametrize(
    ("url", "kind", "says"),
    [
        ("postgresql://app:secret-word@127.0.0.1:1/x", DatabaseUnavailable, "127.0.0.1:1/x cannot be reached"),
        ("postgresql://app:secret-word@nowhere.invalid/x", DatabaseUnavailable, "nowhere.invalid/x cannot be reached"),
        ("postgresql://app:secret-word@127.0.0.1:port/x", DatabaseRefused, r"check \[database\] url"),
        ("mysql://app:secret-word@127.0.0.1/x", DatabaseRefused, r"check \[database\] url"),
    ],
)
async def test_an_address_that_leads_nowhere(url: str, kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=says) as caught:
        await Store(ExternalServer(url)).open()
    assert "secret-word" not in str(caught.value)


async def test_a_database_that_is_not_there(database_url: str) -> None:
    url = database_url.replace("/test_", "/no_such_")
    with pytest.raises(DatabaseRefused, match=r'database "no_such_\d+" does not exist.*check \[database\] url'):
        await Store(ExternalServer(url)).open()


def test_the_server_that_the_settings_name(tmp_path: Path) -> None:
    assert isinstance(server_for("embedded", tmp_path), EmbeddedServer)
    external = server_for("postgresql://app@db.example/isthmus", tmp_path)
    assert external.dsn == "postgresql://app@db.example/isthmus"
