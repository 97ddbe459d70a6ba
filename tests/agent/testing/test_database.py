import time

from agent.store.connect import connect
from agent.store.pool import Store
from agent.testing.database import DatabaseCluster


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


async def test_databases_do_not_share_rows(postgres_cluster: DatabaseCluster, database_template: str) -> None:
    with postgres_cluster.fresh(database_template) as one, postgres_cluster.fresh(database_template) as other:
        first, second = await connect(one), await connect(other)
        await first.execute("INSERT INTO owner_revisions VALUES ('server:1', 1)")
        assert await second.fetchval("SELECT count(*) FROM owner_revisions") == 0
        await first.close()
        await second.close()
