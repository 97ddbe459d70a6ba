import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from agent.store.connect import connect
from agent.store.pool import Store
from agent.testing.database import DatabaseCluster, remove_leftovers, temporary_parent


async def test_a_fresh_database_is_migrated_and_empty(store: Store) -> None:
    async with store.connection() as connection:
        assert await connection.fetchval("SELECT count(*) FROM servers") == 0


def test_a_fresh_database_takes_less_than_a_tenth_of_a_second(
    postgres_cluster: DatabaseCluster, database_template: str
) -> None:
    seconds = []
    for _ in range(5):
        began = time.perf_counter()
        with postgres_cluster.fresh(database_template):
            seconds.append(time.perf_counter() - began)
    assert min(seconds) < 0.1


async def test_databases_do_not_share_rows(
    database_url: str, postgres_cluster: DatabaseCluster, database_template: str
) -> None:
    other_name = await asyncio.to_thread(postgres_cluster.create, database_template)
    first, second = await connect(database_url), await connect(postgres_cluster.url(other_name))
    await first.execute("INSERT INTO owner_revisions VALUES ('server:1', 1)")
    assert await second.fetchval("SELECT count(*) FROM owner_revisions") == 0
    await first.close()
    await asyncio.to_thread(postgres_cluster.drop, other_name)  # also with a connection open
    await second.close()


def test_what_a_killed_session_left_is_removed() -> None:
    dead = subprocess.Popen([sys.executable, "--version"])
    dead.wait()
    leftover = Path(tempfile.mkdtemp(prefix=f"isthmus-test-{dead.pid}-", dir=temporary_parent()))
    mine = Path(tempfile.mkdtemp(prefix=f"isthmus-test-{os.getpid()}-", dir=temporary_parent()))
    remove_leftovers()
    assert not leftover.exists()
    assert mine.exists()
    mine.rmdir()
