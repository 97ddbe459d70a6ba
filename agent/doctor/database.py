"""Whether the database answers, is new enough, has the schema of this version, and can search by vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agent.hookspecs import Health
from agent.settings import SecretError, SettingsError
from agent.store.errors import DatabaseForeign, DatabaseNewer, EmbeddedServerError, MigrationError, StoreError
from agent.store.migrate import standings
from agent.store.migration_sets import CORE, MigrationSet
from agent.store.pool import Store, server_for
from agent.store.queries import load_queries

if TYPE_CHECKING:
    from agent.settings import LoadedSettings
    from agent.store.pool import PooledConnection

QUERIES = load_queries("agent.doctor")
_STANDING: Final = {
    "unsupported": "on platforms that cannot delete what was sent",
    "failed": "whose deletion was refused",
    "waiting": "waiting for their bridge",
}
OLDEST: Final = 15
"""Oldest major version of PostgreSQL that is supported."""


@dataclass(frozen=True, slots=True)
class DatabaseHealth:
    """The lines, and whether the agent can be started on this database without changing it."""

    lines: tuple[Health, ...]
    ready: bool = False


async def database_health(loaded: LoadedSettings) -> DatabaseHealth:
    """Look at the database; the embedded server is started for that when it is not running."""
    try:
        url = loaded.settings.database.resolve_url()
        async with Store(server_for(url, loaded.data_dir), size=2) as store, store.connection() as connection:
            version = await _version(connection, store.place, embedded=loaded.settings.database.embedded)
            migrations, ready = await _migrations(connection, loaded)
            lines: tuple[Health, ...] = (version, migrations, await _vectors(connection))
            if ready:
                lines += await _notices(connection)
            return DatabaseHealth(lines, ready and version.state == "ok")
    except (SecretError, ValueError) as error:
        return _unreachable(str(error), "mend [database] url in plugins.toml")
    except EmbeddedServerError as error:
        return _unreachable(str(error), f"look into {loaded.data_dir / 'postgres.log'}, or choose another --data DIR")
    except StoreError as error:
        remedy = (
            "run `isthmus doctor` again"
            if loaded.settings.database.embedded
            else "start the server, or mend [database] url in plugins.toml"
        )
        return _unreachable(str(error), remedy)


def migration_sets(loaded: LoadedSettings) -> tuple[MigrationSet, ...]:
    """Return the migrations of the core and of every enabled plugin, in the order in which they run.

    Raises:
        SettingsError: a plugin cannot be loaded.
    """
    from agent.plugin_loader import load_plugins

    return (CORE, *load_plugins(loaded).migrations)


def _unreachable(text: str, remedy: str) -> DatabaseHealth:
    later = Health("migrations", "warn", "not looked at: the database cannot be reached", "mend the database first")
    vectors = Health("pgvector", "warn", "not looked at: the database cannot be reached", "mend the database first")
    return DatabaseHealth((Health("database", "fail", text, remedy), later, vectors))


async def _version(connection: PooledConnection, place: str, *, embedded: bool) -> Health:
    row = await connection.fetchrow(QUERIES["server_version"])
    number, shown = (int(row["number"]), row["version"]) if row else (0, "unknown")
    kind = "embedded" if embedded else place
    if number // 10_000 < OLDEST:
        text = f"PostgreSQL {shown} ({kind}) is too old: {OLDEST} or newer is needed"
        return Health("database", "fail", text, 'upgrade it, or set [database] url = "embedded"')
    return Health("database", "ok", f"PostgreSQL {shown} ({kind})")


async def _migrations(connection: PooledConnection, loaded: LoadedSettings) -> tuple[Health, bool]:
    name = "migrations"
    try:
        found = await standings(connection, migration_sets(loaded))
    except SettingsError:
        return Health(name, "warn", "not looked at: a plugin cannot be loaded", "mend the plugin first"), False
    except DatabaseNewer as error:
        return Health(name, "fail", str(error), "install the newer version of isthmus"), False
    except DatabaseForeign as error:
        return Health(name, "fail", str(error), "set another [database] url in plugins.toml"), False
    except MigrationError as error:
        return Health(name, "fail", str(error), "reinstall isthmus, or the plugin that it names"), False
    behind = [each for each in found if not each.is_current]
    if not behind:
        return Health(name, "ok", ", ".join(f"{each.owner} {each.head}" for each in found)), True
    if all(each.current is None for each in found):
        return Health(name, "ok", "a new database: its tables are made at the first start"), False
    waiting = ", ".join(f"{each.owner} is at {each.current or 'nothing'} of {each.head}" for each in behind)
    return Health(name, "warn", f"{waiting}; the next start does it", "isthmus migrate"), False


async def _notices(connection: PooledConnection) -> tuple[Health, ...]:
    """Tell of notices that were to be deleted, because somebody was forgotten, and still stand somewhere."""
    row = await connection.fetchrow(QUERIES["notices_standing"])
    counts = {} if row is None else {state: count for state, count in row.items() if count}
    if not counts:
        return ()
    shown = ", ".join(f"{count} {_STANDING[state]}" for state, count in counts.items())
    remedy = "delete them by hand: isthmus counts them until they are 30 days old"
    if set(counts) == {"waiting"}:
        remedy = "start the agent (isthmus run) with the bridge of their platform"
    return (Health("notices", "warn", f"withdrawn, and still standing: {shown}", remedy),)


async def _vectors(connection: PooledConnection) -> Health:
    row = await connection.fetchrow(QUERIES["vector_extension"])
    if row is None:
        text = "the extension vector is not available on this server: recall by meaning is off"
        return Health(
            "pgvector", "warn", text, "install pgvector on the database server (package postgresql-XX-pgvector)"
        )
    installed = row["installed_version"]
    return Health("pgvector", "ok", f"{installed or row['default_version']}{'' if installed else ', not created yet'}")
