import asyncio
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.store.connect import connect
from agent.store.errors import (
    DatabaseForeign,
    DatabaseNewer,
    DatabaseUnavailable,
    MigrationFailed,
    MigrationFileError,
)
from agent.store.migrate import Standing, migrate, read_versions, standings
from agent.store.migration_sets import CORE, MigrationSet
from agent.testing.database import DatabaseCluster

ROOT = Path(__file__).parents[3]

#: What a schema is, as far as programs can tell: columns, constraints, indexes and functions.
SHAPE = """
SELECT 'column ' || c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
WHERE c.relnamespace = 'public'::regnamespace AND a.attnum > 0
UNION ALL
SELECT 'constraint ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
WHERE connamespace = 'public'::regnamespace
UNION ALL SELECT 'function ' || p.oid::regprocedure || ' ' || md5(prosrc) FROM pg_proc p
WHERE pronamespace = 'public'::regnamespace
ORDER BY 1
"""

type MakeSet = Callable[..., MigrationSet]


@pytest.fixture
def empty_url(postgres_cluster: DatabaseCluster) -> Iterator[str]:
    with postgres_cluster.fresh() as url:
        yield url


@pytest.fixture
def make_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeSet:
    """Write a package of migrations; a second call for the same owner replaces its files."""
    monkeypatch.syspath_prepend(tmp_path)

    def make(owner: str, *files: str, names: tuple[str, ...] = ()) -> MigrationSet:
        package = tmp_path / f"migrations_of_{owner}"
        package.mkdir(exist_ok=True)
        for old in package.glob("*.sql"):
            old.unlink()
        for number, text in enumerate(files, start=1):
            name = names[number - 1] if names else f"{number:04}_step.sql"
            (package / name).write_text(text, "utf-8")
        return MigrationSet(owner, package.name)

    return make


async def query(url: str, statement: str) -> list[Any]:
    connection = await connect(url)
    try:
        return [record[0] for record in await connection.fetch(statement)]
    finally:
        await connection.close()


async def tables(url: str) -> list[str]:
    return await query(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")


async def test_from_nothing_to_the_schema_of_the_files(empty_url: str, postgres_cluster: DatabaseCluster) -> None:
    await migrate(empty_url, [CORE])
    name = await asyncio.to_thread(postgres_cluster.create)
    connection = await connect(postgres_cluster.url(name))
    for migration in CORE.migrations():
        await connection.execute(migration.sql)
    expected = [record[0] for record in await connection.fetch(SHAPE)]
    await connection.close()
    await asyncio.to_thread(postgres_cluster.drop, name)
    found = [line for line in await query(empty_url, SHAPE) if "alembic_version_core" not in line]
    assert found == expected
    assert any(line.startswith("column owner_revisions.revision bigint") for line in found)


async def test_a_second_time_changes_nothing(empty_url: str) -> None:
    head = CORE.migrations()[-1].revision
    assert await migrate(empty_url, [CORE]) == [Standing("core", None, head)]
    before = await query(empty_url, SHAPE)
    assert await migrate(empty_url, [CORE]) == []
    assert await query(empty_url, SHAPE) == before


def test_alembic_is_not_imported_when_there_is_nothing_to_do(database_url: str) -> None:
    program = textwrap.dedent("""
        import asyncio, sys
        from agent.store.migrate import migrate
        from agent.store.migration_sets import CORE
        asyncio.run(migrate(sys.argv[1], [CORE]))
        sys.exit("alembic" in sys.modules or "sqlalchemy" in sys.modules)
    """)
    assert subprocess.run([sys.executable, "-c", program, database_url], cwd=ROOT, check=False).returncode == 0


async def test_statements_that_drivers_and_templates_stumble_over(empty_url: str, make_set: MakeSet) -> None:
    tricky = """
        CREATE TABLE things (value jsonb, word text);
        INSERT INTO things VALUES ('{"a":1, "b":":bind"}', '100% %s %(x)s :y');
        CREATE FUNCTION twice(n int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN n * 2; END; $$;
        COMMENT ON TABLE things IS 'Ünïcode; with a semicolon';
    """
    await migrate(empty_url, [CORE, make_set("tricky", tricky)])
    assert await query(empty_url, "SELECT word FROM things WHERE value ->> 'b' = ':bind' AND twice(2) = 4") == [
        "100% %s %(x)s :y"
    ]


async def test_only_what_is_missing_runs(empty_url: str, make_set: MakeSet) -> None:
    first = "CREATE TABLE log (step int); INSERT INTO log VALUES (1)"
    await migrate(empty_url, [CORE, make_set("plugin", first)])
    longer = make_set("plugin", first, "INSERT INTO log VALUES (2)", "INSERT INTO log VALUES (3)")
    assert await migrate(empty_url, [CORE, longer]) == [Standing("plugin", "0001", "0003")]
    assert await query(empty_url, "SELECT step FROM log ORDER BY step") == [1, 2, 3]


async def test_owners_run_in_the_given_order(empty_url: str, make_set: MakeSet) -> None:
    base = make_set("base", "CREATE TABLE base_things (id int PRIMARY KEY)")
    above = make_set("above", "CREATE TABLE above_things AS SELECT * FROM base_things")
    assert [standing.owner for standing in await migrate(empty_url, [CORE, base, above])] == ["core", "base", "above"]


async def test_a_plugin_that_is_removed_and_comes_back(empty_url: str, make_set: MakeSet) -> None:
    first, second = "CREATE TABLE notes (text text); INSERT INTO notes VALUES ('kept')", "ALTER TABLE notes ADD n int"
    await migrate(empty_url, [CORE, make_set("notes", first)])
    assert await migrate(empty_url, [CORE]) == []
    assert await migrate(empty_url, [CORE, make_set("notes", first, second)]) == [Standing("notes", "0001", "0002")]
    assert await query(empty_url, "SELECT text FROM notes WHERE n IS NULL") == ["kept"]


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ("CREATE TABLE half (n int);\nSELECT\nno_such_column;", "line 3"),
        ("CREATE TABLE half (n int);\nINSERT INTO half VALUES (1 / 0)", "division by zero"),
        ("CREATE TABLE half (n int); DO $$ BEGIN RAISE EXCEPTION 'not today'; END $$", "not today"),
    ],
)
async def test_a_failing_migration_leaves_nothing(empty_url: str, make_set: MakeSet, bad: str, says: str) -> None:
    good = "CREATE TABLE whole (n int)"
    await migrate(empty_url, [CORE])
    before = await tables(empty_url)
    with pytest.raises(MigrationFailed) as caught:
        await migrate(empty_url, [CORE, make_set("plugin", good, bad)])
    message = str(caught.value)
    assert message.startswith("migration 0002_step.sql of plugin failed")
    assert says in message
    assert "\n" not in message
    assert await tables(empty_url) == before
    await migrate(empty_url, [CORE, make_set("plugin", good, "CREATE TABLE half (n int)")])
    assert {"whole", "half"} <= set(await tables(empty_url))


async def test_owners_before_a_failing_one_are_kept(empty_url: str, make_set: MakeSet) -> None:
    with pytest.raises(MigrationFailed):
        await migrate(empty_url, [CORE, make_set("plugin", "SELECT 1 / 0")])
    connection = await connect(empty_url)
    assert list(await read_versions(connection)) == ["core"]
    await connection.close()


async def test_a_newer_database_is_refused(empty_url: str, make_set: MakeSet) -> None:
    one, two = "CREATE TABLE one (n int)", "CREATE TABLE two (n int)"
    await migrate(empty_url, [CORE, make_set("plugin", one, two)])
    with pytest.raises(DatabaseNewer, match=r"plugin are at revision 0002, .* knows up to 0001: install the newer"):
        await migrate(empty_url, [CORE, make_set("plugin", one)])


@pytest.mark.parametrize("thing", ["CREATE TABLE books (n int)", "CREATE VIEW books AS SELECT 1 AS n"])
async def test_a_foreign_database_is_refused(empty_url: str, thing: str) -> None:
    await query(empty_url, thing)
    with pytest.raises(DatabaseForeign, match=r"something else \(books\): give isthmus a database of its own"):
        await migrate(empty_url, [CORE])
    assert await query(empty_url, "SELECT relname FROM pg_class WHERE relname LIKE 'alembic%'") == []


async def test_an_extension_is_nothing_foreign(empty_url: str) -> None:
    await query(empty_url, "CREATE EXTENSION pg_stat_statements")  # it brings views
    await migrate(empty_url, [CORE])


def test_four_processes_at_once(empty_url: str) -> None:
    program = textwrap.dedent("""
        import asyncio, sys
        from agent.store.migrate import migrate
        from agent.store.migration_sets import CORE
        asyncio.run(migrate(sys.argv[1], [CORE]))
    """)
    processes = [
        subprocess.Popen([sys.executable, "-c", program, empty_url], cwd=ROOT, stderr=subprocess.PIPE) for _ in range(4)
    ]
    assert [(process.communicate(timeout=50)[1], process.returncode) for process in processes] == [(b"", 0)] * 4
    head = CORE.migrations()[-1].revision
    assert asyncio.run(query(empty_url, "SELECT version_num FROM alembic_version_core")) == [head]


async def test_many_at_once_run_each_step_once(empty_url: str, make_set: MakeSet) -> None:
    plugin = make_set("plugin", "CREATE TABLE log (n int)", "SELECT pg_sleep(0.1); INSERT INTO log VALUES (1)")
    await migrate(empty_url, [CORE])
    await asyncio.gather(*(migrate(empty_url, [CORE, plugin]) for _ in range(8)))
    assert await query(empty_url, "SELECT n FROM log") == [1]


async def test_one_that_is_killed_in_the_middle_leaves_nothing(empty_url: str, make_set: MakeSet) -> None:
    await migrate(empty_url, [CORE])
    slow = make_set("plugin", "CREATE TABLE half (n int); SELECT pg_sleep(60)")
    running = asyncio.create_task(migrate(empty_url, [CORE, slow]))

    kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)'"
    async with asyncio.timeout(10):
        while not await query(empty_url, kill + " AND datname = current_database()"):
            assert not running.done()
    with pytest.raises(DatabaseUnavailable, match=r"went away in migration 0001_step\.sql of plugin: nothing of it"):
        await running
    assert "half" not in await tables(empty_url)


async def test_standings_for_the_doctor(database_url: str, make_set: MakeSet) -> None:
    connection = await connect(database_url)
    head = CORE.migrations()[-1].revision
    found = await standings(connection, [CORE, make_set("new", "SELECT 1")])
    await connection.close()
    assert [(each.owner, each.is_current) for each in found] == [("core", True), ("new", False)]
    assert found[0].current == head


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (("0001_a.sql", "0003_b.sql"), r"0003_b\.sql: expected a name like 0002_what_it_does\.sql"),
        (("0002_a.sql", "0003_b.sql"), r"0002_a\.sql: expected a name like 0001_what_it_does\.sql"),
        (("0001_a.sql", "0001_b.sql"), r"0001_b\.sql: expected a name like 0002"),
        (("schema.sql", "x.sql"), r"schema\.sql: expected a name like 0001"),
    ],
)
def test_files_that_are_misnamed(make_set: MakeSet, names: tuple[str, ...], says: str) -> None:
    with pytest.raises(MigrationFileError, match=says):
        make_set("plugin", "SELECT 1", "SELECT 2", names=names).migrations()


def test_a_set_without_files(make_set: MakeSet) -> None:
    with pytest.raises(MigrationFileError, match="holds no migrations"):
        make_set("plugin").migrations()


@pytest.mark.parametrize("owner", ["", "Core", "a-b", "x; DROP TABLE users", "1st", "x" * 41])
def test_an_owner_that_is_no_name(owner: str) -> None:
    with pytest.raises(MigrationFileError, match="is not lower-case letters"):
        MigrationSet(owner, "migrations.core")
