"""Fixtures of the database, for `pytest_plugins = ["agent.testing.pytest_plugin"]`.

`postgres_cluster` and `database_template` live as long as the session (with pytest-xdist each worker has its own),
`database_url` and `store` as long as the test. A project with tables of its own overrides `migration_sets`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence

import pytest
import pytest_asyncio

from agent.store.migration_sets import CORE, MigrationSet
from agent.store.pool import ExternalServer, Store
from agent.testing.database import DatabaseCluster, running_cluster


@pytest.fixture(scope="session")
def migration_sets() -> Sequence[MigrationSet]:
    """The migrations of the template: the core's, unless overridden."""
    return (CORE,)


@pytest.fixture(scope="session")
def postgres_cluster() -> Iterator[DatabaseCluster]:
    """A running server."""
    with running_cluster() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def database_template(postgres_cluster: DatabaseCluster, migration_sets: Sequence[MigrationSet]) -> str:
    """The name of a migrated database, to be copied and never connected to."""
    return postgres_cluster.create_template(migration_sets)


@pytest.fixture
def database_url(postgres_cluster: DatabaseCluster, database_template: str) -> Iterator[str]:
    """The address of a fresh, migrated database."""
    with postgres_cluster.fresh(database_template) as url:
        yield url


@pytest_asyncio.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    """An open store on a fresh, migrated database."""
    async with Store(ExternalServer(database_url)) as opened:
        yield opened
