import asyncio
import gzip
import hashlib
import io
import json
import os
import sqlite3
import tarfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agent.clock import ShiftedClock
from agent.store import backup as backup_module
from agent.store.backup import backup
from agent.store.backup_files import Manifest
from agent.store.cluster import make_data_directory
from agent.store.connect import connect
from agent.store.embedded import EmbeddedServer
from agent.store.errors import BackupDamaged, BackupError, BackupFailed, RestoreFailed, RestoreRefused
from agent.store.migrate import migrate
from agent.store.migration_sets import CORE, MigrationSet
from agent.store.restore import restore
from agent.testing.database import DatabaseCluster

MOMENT = datetime(2026, 1, 2, tzinfo=UTC)
CLOCK = ShiftedClock(MOMENT)
TRICKY = "Ünïcode 👋 \\ ' \" \t \n; \\. DROP"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A data directory in use: what belongs in a backup, and what does not."""
    data = tmp_path / "old"
    (data / "matrix" / "keys").mkdir(parents=True)
    (data / "secret_key").write_text("very secret")
    (data / "secret_key").chmod(0o600)
    (data / "matrix" / "keys" / "öne").write_bytes(bytes(range(256)))
    (data / "empty").touch()
    (data / "postgres").mkdir()
    (data / "postgres" / "PG_VERSION").write_text("18")
    (data / "postgres.lock").touch()
    (data / "postgres.log").write_text("log")
    (data / "agent.lock").touch()
    (data / "link").symlink_to(data / "secret_key")
    connection = sqlite3.connect(data / "crypto.db")
    connection.execute("PRAGMA journal_mode = wal")
    connection.execute("CREATE TABLE keys (k)")
    connection.execute("INSERT INTO keys VALUES (7)")
    connection.commit()
    connection.close()
    return data


@pytest.fixture
def empty_url(postgres_cluster: DatabaseCluster) -> Iterator[str]:
    with postgres_cluster.fresh() as url:
        yield url


def below(directory: Path) -> list[Path]:
    return sorted(directory.rglob("*"))


async def fill(url: str) -> None:
    connection = await connect(url)
    await connection.execute(
        "INSERT INTO servers (platform, external_id, kind, name, created_at) VALUES ('x', $1, 'guild', $2, $3)",
        "1",
        TRICKY,
        MOMENT,
    )
    await connection.execute("INSERT INTO server_settings SELECT server_id, 'k', $1 FROM servers", {"a": [1, None]})
    await connection.close()


async def contents(url: str) -> list[list[tuple[Any, ...]]]:
    connection = await connect(url)
    tables = [r[0] for r in await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]
    found = [await connection.fetch(f"SELECT * FROM {name} ORDER BY 1") for name in sorted(tables)]  # noqa: S608
    sequences = await connection.fetch("SELECT sequencename, last_value FROM pg_sequences ORDER BY 1")
    await connection.close()
    return [[tuple(row) for row in rows] for rows in (*found, sequences)]


async def make(url: str, data_dir: Path, file: Path) -> Manifest:
    return await backup(url, data_dir, file, version="0.1.0", clock=CLOCK)


async def test_there_and_back(database_url: str, empty_url: str, old: Path, tmp_path: Path) -> None:
    await fill(database_url)
    file = tmp_path / "backup.tar.gz"
    made = await make(database_url, old, file)
    assert file.stat().st_mode & 0o777 == 0o600
    assert made.created_at - MOMENT < (datetime.now(UTC) - MOMENT)
    assert made.heads["core"] == CORE.migrations()[-1].revision
    assert set(made.members) == {
        "database.sql",
        "data/secret_key",
        "data/matrix/keys/öne",
        "data/empty",
        "data/crypto.db",
    }

    new = tmp_path / "new"
    assert await restore(empty_url, new, file, sets=[CORE]) == made
    assert await contents(empty_url) == await contents(database_url)
    assert (new / "secret_key").read_text() == "very secret"
    assert (new / "secret_key").stat().st_mode & 0o777 == 0o600
    assert (new / "matrix" / "keys" / "öne").read_bytes() == bytes(range(256))
    connection = sqlite3.connect(new / "crypto.db")
    assert connection.execute("SELECT k FROM keys").fetchall() == [(7,)]
    connection.close()
    assert sorted(path.name for path in new.iterdir()) == ["crypto.db", "empty", "matrix", "secret_key"]
    assert await migrate(empty_url, [CORE]) == []
    await fill_again(empty_url)


async def fill_again(url: str) -> None:
    """Sequences go on where they were."""
    connection = await connect(url)
    number = await connection.fetchval(
        "INSERT INTO servers (platform, external_id, kind, name, created_at) VALUES ('x', '2', 'guild', 'n', $1)"
        " RETURNING server_id",
        MOMENT,
    )
    assert number == 2
    await connection.close()


async def test_nothing_is_left_beside_the_file(database_url: str, old: Path, tmp_path: Path) -> None:
    target = tmp_path / "backups"
    target.mkdir()
    file = target / "backup.tar.gz"
    file.write_text("an older one")
    await make(database_url, old, file)
    assert [path.name for path in target.iterdir()] == ["backup.tar.gz"]
    assert tarfile.is_tarfile(file)


async def test_a_backup_into_the_data_directory_does_not_hold_itself(database_url: str, old: Path) -> None:
    made = await make(database_url, old, old / "backup.tar.gz")
    assert not [name for name in made.members if "backup" in name]


async def test_while_it_is_made_others_write(database_url: str, empty_url: str, old: Path, tmp_path: Path) -> None:
    """Pairs that are always written together are never torn apart."""
    done = asyncio.Event()

    async def write() -> None:
        connection = await connect(database_url)
        number = 0
        while not done.is_set():
            number += 1
            await connection.execute(
                "INSERT INTO owner_revisions VALUES ('a', $1::bigint), ('b', $1::bigint)"
                " ON CONFLICT (owner) DO UPDATE SET revision = excluded.revision",
                number,
            )
        await connection.close()

    writer = asyncio.create_task(write())
    await make(database_url, old, tmp_path / "backup.tar.gz")
    done.set()
    await writer
    await restore(empty_url, tmp_path / "new", tmp_path / "backup.tar.gz", sets=[CORE])
    connection = await connect(empty_url)
    revisions = [row[0] for row in await connection.fetch("SELECT revision FROM owner_revisions")]
    await connection.close()
    assert len(set(revisions)) <= 1


async def test_between_two_embedded_servers(data_dir: Path) -> None:
    servers = []
    for name in ("one", "two"):
        place = data_dir / name
        make_data_directory(place)
        server = EmbeddedServer(place, durable=False)
        await asyncio.to_thread(server.ensure_running)
        servers.append(server)
    await migrate(servers[0].dsn, [CORE])
    await fill(servers[0].dsn)
    (data_dir / "one" / "secret_key").write_text("s")
    file = data_dir / "backup.tar.gz"
    await make(servers[0].dsn, data_dir / "one", file)
    await restore(servers[1].dsn, data_dir / "two", file, sets=[CORE])
    assert await contents(servers[1].dsn) == await contents(servers[0].dsn)
    assert (data_dir / "two" / "secret_key").read_text() == "s"
    for server in servers:
        await asyncio.to_thread(server.stop)


async def test_a_database_that_is_not_empty_is_refused(database_url: str, old: Path, tmp_path: Path) -> None:
    file = tmp_path / "backup.tar.gz"
    await make(database_url, old, file)
    with pytest.raises(RestoreRefused, match="the database is not empty"):
        await restore(database_url, tmp_path / "new", file, sets=[CORE])
    assert list((tmp_path / "new").iterdir()) == []


async def test_a_data_directory_that_is_not_empty_is_refused(
    database_url: str, empty_url: str, old: Path, tmp_path: Path
) -> None:
    file = tmp_path / "backup.tar.gz"
    await make(database_url, old, file)
    before = below(old)
    with pytest.raises(RestoreRefused, match="is not empty"):
        await restore(empty_url, old, file, sets=[CORE])
    assert below(old) == before
    assert await contents(empty_url) == [[]]


async def test_a_backup_of_a_newer_program_is_refused(
    database_url: str, empty_url: str, old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "migrations_of_plugin"
    package.mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    for number in (1, 2):
        (package / f"000{number}_step.sql").write_text("SELECT 1")
    plugin = MigrationSet("plugin", package.name)
    await migrate(database_url, [CORE, plugin])
    file = tmp_path / "backup.tar.gz"
    await make(database_url, old, file)
    (package / "0002_step.sql").unlink()
    with pytest.raises(RestoreRefused, match=r"plugin are at revision 0002; this version knows up to 0001"):
        await restore(empty_url, tmp_path / "new", file, sets=[CORE, plugin])
    assert await contents(empty_url) == [[]]
    await restore(empty_url, tmp_path / "new", file, sets=[CORE])  # a plugin that is not enabled now is no obstacle


type Change = Callable[[list[tuple[tarfile.TarInfo, bytes]]], None]


def changed(file: Path, change: Change) -> None:
    with tarfile.open(file) as archive:
        members = [(m, source.read() if (source := archive.extractfile(m)) else b"") for m in archive]
    change(members)
    with tarfile.open(file, "w:gz") as archive:
        for member, content in members:
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def flip(members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
    position = next(i for i, (member, _) in enumerate(members) if member.name == "data/secret_key")
    members[position] = (members[position][0], b"very Secret")


def remove(members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
    members.pop()


def add(members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
    members.append((tarfile.TarInfo("data/extra"), b"x"))


def twice(members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
    members.append(members[-1])


def link(members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
    member = members[-1][0]
    member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
    members[-1] = (member, b"")


def no_manifest(members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
    members.pop(0)


def edited(**values: Any) -> Change:
    def change(members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        manifest = json.loads(members[0][1]) | values
        members[0] = (members[0][0], json.dumps(manifest).encode())

    return change


OUTSIDE = {"data/../../escaped": {"size": 0, "mode": 384, "sha256": hashlib.sha256().hexdigest()}}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (flip, (BackupDamaged, "'data/secret_key' in .* is not what was written")),
        (remove, (BackupDamaged, "lacks 'database.sql'")),
        (add, (BackupDamaged, "holds 'data/extra', which its manifest does not")),
        (twice, (BackupDamaged, "holds 'database.sql', which its manifest does not")),
        (link, (BackupDamaged, "holds 'database.sql', which its manifest does not")),
        (no_manifest, (BackupDamaged, "does not begin with a manifest")),
        (edited(format=2), (RestoreRefused, "has format 2, and this version of isthmus reads 1")),
        (edited(members=OUTSIDE), (BackupDamaged, "a member named 'data/../../escaped'")),
        (edited(members={}), (BackupDamaged, "holds no database")),
        (edited(heads=7), (BackupDamaged, r"cannot be read \(heads")),
    ],
)
async def test_a_file_that_was_tampered_with(
    database_url: str, empty_url: str, old: Path, change: Change, expected: tuple[type[BackupError], str]
) -> None:
    tmp_path = old.parent
    file = tmp_path / "backup.tar.gz"
    await make(database_url, old, file)
    await asyncio.to_thread(changed, file, change)
    with pytest.raises(expected[0], match=expected[1]):
        await restore(empty_url, tmp_path / "new", file, sets=[CORE])
    assert list((tmp_path / "new").iterdir()) == []
    assert await contents(empty_url) == [[]]
    assert not (tmp_path / "escaped").exists()


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
async def test_a_file_that_was_cut_off(
    database_url: str, empty_url: str, old: Path, tmp_path: Path, share: float
) -> None:
    file = tmp_path / "backup.tar.gz"
    await make(database_url, old, file)
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(BackupDamaged):
        await restore(empty_url, tmp_path / "new", file, sets=[CORE])


@pytest.mark.parametrize(
    "content",
    [b"hello", gzip.compress(b"hello", mtime=0), b"\x1f\x8b\x08garbage"],
    ids=["text", "another_gzip", "damaged_gzip"],
)
async def test_a_file_that_is_something_else(empty_url: str, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "backup.tar.gz"
    file.write_bytes(content)
    with pytest.raises(BackupDamaged, match=r"no backup of isthmus|damaged"):
        await restore(empty_url, tmp_path / "new", file, sets=[CORE])


async def test_a_file_that_is_not_there(empty_url: str, tmp_path: Path) -> None:
    with pytest.raises(BackupDamaged, match=r"there is no backup .*: check the name"):
        await restore(empty_url, tmp_path / "new", tmp_path / "none", sets=[CORE])


async def test_a_dump_that_the_database_refuses_leaves_it_empty(
    database_url: str, empty_url: str, old: Path, tmp_path: Path
) -> None:
    file = tmp_path / "backup.tar.gz"
    await make(database_url, old, file)

    def spoil(members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        sql = members[-1][1] + b"\nSELECT no_such_column;\n"
        manifest = json.loads(members[0][1])
        manifest["members"]["database.sql"] |= {"size": len(sql), "sha256": hashlib.sha256(sql).hexdigest()}
        members[-1] = (members[-1][0], sql)
        members[0] = (members[0][0], json.dumps(manifest).encode())

    await asyncio.to_thread(changed, file, spoil)
    with pytest.raises(RestoreFailed, match=r"nothing was restored: .*no_such_column"):
        await restore(empty_url, tmp_path / "new", file, sets=[CORE])
    assert await contents(empty_url) == [[]]
    assert list((tmp_path / "new").iterdir()) == []


async def test_a_place_where_nothing_can_be_written(database_url: str, old: Path, tmp_path: Path) -> None:
    with pytest.raises(BackupFailed, match=r"could not be written .*: choose a place"):
        await make(database_url, old, tmp_path / "no" / "such" / "directory" / "backup")
    with pytest.raises(BackupFailed, match="is a directory"):
        await make(database_url, old, tmp_path)


async def test_a_failure_leaves_the_older_backup_alone(
    database_url: str, old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "backup.tar.gz"
    file.write_text("an older one")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(backup_module, "copy_data", full)
    with pytest.raises(BackupFailed, match="No space left on device"):
        await make(database_url, old, file)
    assert file.read_text() == "an older one"
    assert not [path for path in below(tmp_path) if ".isthmus" in str(path)]


async def test_a_dump_that_fails_is_told(
    database_url: str, old: Path, tmp_path: Path, store: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run_client(*_: object) -> str:
        return "pg_dump: error: no"

    monkeypatch.setattr(backup_module, "run_client", run_client)
    with pytest.raises(BackupFailed, match="could not be dumped: pg_dump: error: no"):
        await make(database_url, old, tmp_path / "backup")
    assert not (tmp_path / "backup").exists()
