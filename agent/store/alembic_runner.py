"""Runs SQL files as Alembic migrations. Importing this imports Alembic: only `migrate` does, when there is work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import cast

import asyncpg
import sqlalchemy
import sqlalchemy.exc
from alembic.runtime.migration import MigrationContext, RevisionStep
from alembic.script import Script
from alembic.script.revision import RevisionMap
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool
from sqlalchemy.util import await_only

from agent.store.connect import LOST, connect, explain, first_line
from agent.store.errors import DatabaseUnavailable, MigrationFailed, StoreError
from agent.store.migrate import QUERIES, SETTINGS, newer
from agent.store.migration_sets import Migration, MigrationSet


async def run(dsn: str, sets: Sequence[MigrationSet]) -> None:
    """Run what is missing of each set, each in its own transaction."""
    engine = create_async_engine(
        "postgresql+asyncpg://", async_creator=lambda: connect(dsn, SETTINGS), poolclass=NullPool
    )
    try:
        for each in sets:
            async with engine.begin() as connection:
                await connection.run_sync(_upgrade, each)
    except sqlalchemy.exc.SQLAlchemyError as error:
        raise _told_before(error) or explain(ConnectionError(str(error.__cause__ or error)), dsn) from error
    finally:
        await engine.dispose()


def _upgrade(connection: sqlalchemy.Connection, migration_set: MigrationSet) -> None:
    connection.exec_driver_sql(QUERIES["lock_migrations"])
    migrations = migration_set.migrations()
    scripts = _scripts(connection, migration_set, migrations)
    revisions = RevisionMap(lambda: scripts)

    def missing(heads: tuple[str, ...], _: MigrationContext) -> Iterable[RevisionStep]:
        known = [migration.revision for migration in migrations]
        if heads and heads[0] not in known:  # another process, a newer one, was first
            raise newer(migration_set.owner, heads[0], known[-1])
        newest_first = revisions.iterate_revisions("head", heads or "base")
        return [RevisionStep(revisions, cast("Script", each), is_upgrade=True) for each in newest_first][::-1]

    context = MigrationContext.configure(
        connection, opts={"fn": missing, "version_table": migration_set.version_table, "transactional_ddl": True}
    )
    context.run_migrations()


def _scripts(
    connection: sqlalchemy.Connection, migration_set: MigrationSet, migrations: Sequence[Migration]
) -> list[Script]:
    """Return what Alembic expects to load from Python files, made in memory from the SQL files."""
    scripts: list[Script] = []
    previous: str | None = None
    for migration in migrations:
        module = ModuleType(f"{migration_set.package}.{migration.revision}")
        module.__dict__.update(
            revision=migration.revision,
            down_revision=previous,
            upgrade=_upgrade_step(connection, migration_set, migration),
        )
        scripts.append(Script(module, migration.revision, migration.file))
        previous = migration.revision
    return scripts


def _upgrade_step(
    connection: sqlalchemy.Connection, migration_set: MigrationSet, migration: Migration
) -> Callable[[], None]:
    def upgrade() -> None:
        # The driver's own connection takes several statements at once, and no colon in them for a parameter.
        driver = connection.connection.driver_connection
        if not isinstance(driver, asyncpg.Connection):
            raise TypeError(f"expected asyncpg, got {driver!r}")
        try:
            await_only(driver.execute(migration.sql))
        except LOST as error:
            raise DatabaseUnavailable(
                f"the database went away in migration {migration.file} of {migration_set.owner}: "
                "nothing of it was kept; start again"
            ) from error
        except asyncpg.PostgresError as error:
            raise _failed(migration_set, migration, error) from error

    return upgrade


def _failed(migration_set: MigrationSet, migration: Migration, error: asyncpg.PostgresError) -> MigrationFailed:
    position = getattr(error, "position", None)
    line = f", line {migration.sql.count(chr(10), 0, int(position) - 1) + 1}" if position else ""
    return MigrationFailed(
        f"migration {migration.file} of {migration_set.owner} failed{line}: {first_line(error)}: "
        "nothing of it was kept; mend the cause and start again"
    )


def _told_before(error: BaseException) -> StoreError | None:
    """Return the error of ours that SQLAlchemy's failure to roll back a lost connection hides."""
    hidden: BaseException | None = error
    while hidden is not None and not isinstance(hidden, StoreError):
        hidden = hidden.__cause__ or hidden.__context__
    return hidden
