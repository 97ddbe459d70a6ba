"""Brings the database to the schema that this program needs.

Each owner of tables has its own version table, so that a plugin can be removed and come back. An owner's migrations
run in one transaction, under a lock that every process takes: a failing one leaves nothing of that owner's step.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.store.connect import Connection, connect
from agent.store.errors import DatabaseForeign, DatabaseNewer
from agent.store.migration_sets import CORE, MigrationSet
from agent.store.queries import load_queries

QUERIES = load_queries(__name__)
_VERSION_TABLE = "alembic_version_"
#: A migration may take its time; its locks are few and the others wait for it anyway.
SETTINGS: Mapping[str, str] = {
    "application_name": "isthmus migrate",
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
}


@dataclass(frozen=True, slots=True)
class Standing:
    """How far one owner's tables are migrated: `current` is None before the first migration."""

    owner: str
    current: str | None
    head: str

    @property
    def is_current(self) -> bool:
        """True when nothing is to be done."""
        return self.current == self.head


async def migrate(dsn: str, sets: Sequence[MigrationSet]) -> Sequence[Standing]:
    """Run what is missing, owner after owner in the given order; return what was behind before.

    Raises DatabaseNewer, DatabaseForeign, MigrationFailed, or what `connect` raises.
    """
    connection = await connect(dsn, SETTINGS)
    try:
        behind = [standing for standing in await standings(connection, sets) if not standing.is_current]
    finally:
        await connection.close()
    if behind:
        # Alembic takes a third of a second to import, and is needed after an upgrade only.
        runner = await asyncio.to_thread(importlib.import_module, "agent.store.alembic_runner")
        names = {standing.owner for standing in behind}
        await runner.run(dsn, [each for each in sets if each.owner in names])
    return behind


async def standings(connection: Connection, sets: Sequence[MigrationSet]) -> Sequence[Standing]:
    """Return how far each owner is. Raises DatabaseForeign and DatabaseNewer: then nothing may touch the database."""
    versions = await read_versions(connection)
    result = []
    for each in sets:
        known = [migration.revision for migration in each.migrations()]
        current = versions.get(each.owner)
        if current is not None and current not in known:
            raise newer(each.owner, current, known[-1])
        result.append(Standing(each.owner, current, known[-1]))
    return result


async def read_versions(connection: Connection) -> dict[str, str]:
    """Return the revision of every owner that ever had tables here. Raises DatabaseForeign."""
    tables = [record["relname"] for record in await connection.fetch(QUERIES["list_tables"])]
    if tables and CORE.version_table not in tables:
        shown = ", ".join(tables[:3]) + (", …" if len(tables) > 3 else "")  # noqa: PLR2004  # three name enough
        raise DatabaseForeign(
            f"the database holds tables of something else ({shown}): "
            "give isthmus a database of its own in [database] url"
        )
    owners = [name.removeprefix(_VERSION_TABLE) for name in tables if name.startswith(_VERSION_TABLE)]
    if not owners:
        return {}
    # The names come from the catalogue and from MigrationSet, which admits letters, digits and underscores only.
    union = " UNION ALL ".join(f"SELECT '{owner}', version_num FROM {_VERSION_TABLE}{owner}" for owner in owners)  # noqa: S608
    return {record[0]: record[1] for record in await connection.fetch(union)}


def newer(owner: str, current: str, known: str) -> DatabaseNewer:
    """Return the error for a database that a newer program has migrated."""
    return DatabaseNewer(
        f"the tables of {owner} are at revision {current}, and this version of isthmus knows up to {known}: "
        "install the newer version, or restore a backup made with this one"
    )
