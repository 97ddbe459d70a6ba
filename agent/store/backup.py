"""Makes a backup: the database and the data directory in one file, with a manifest to check it by.

The database is dumped in one snapshot by pg_dump; the agent may go on working meanwhile. The file holds the secrets
of the data directory, so its mode is 600.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from agent.clock import Clock
from agent.store.backup_files import DATA, DATABASE, MANIFEST, Manifest, Origin, copy_data, describe
from agent.store.connect import connect
from agent.store.errors import BackupFailed
from agent.store.migrate import QUERIES, read_versions
from agent.store.programs import client_program, run_client

_DUMP = ("--format=plain", "--no-owner", "--no-privileges", "--encoding=UTF8", "--lock-wait-timeout=60s")


async def backup(dsn: str, data_dir: Path, file: Path, *, version: str, clock: Clock) -> Manifest:
    """Write a backup to `file` (a gzipped tar), whole or not at all; an older file of that name is replaced.

    `version` is the program's own. Raises BackupFailed, and what `connect` and `read_versions` raise.
    """
    with _stage(file) as stage:
        connection = await connect(dsn)
        try:
            heads = await read_versions(connection)
            server = str(await connection.fetchval(QUERIES["server_version"]))
            program = await client_program("pg_dump", connection)
        finally:
            await connection.close()
        reason = await run_client(program, dsn, *_DUMP, f"--file={stage / 'content' / DATABASE}")
        if reason is not None:
            raise BackupFailed(f"the database could not be dumped: {reason}")
        return await asyncio.to_thread(_pack, data_dir, file, stage, Origin(version, server, heads, clock.now()))


def _pack(data_dir: Path, file: Path, stage: Path, origin: Origin) -> Manifest:
    with explained(file):
        content = stage / "content"
        copy_data(data_dir.resolve(), content / DATA, besides=stage.resolve())
        manifest = describe(content, origin)
        (content / MANIFEST).write_text(manifest.model_dump_json(indent=2), "utf-8")
        part = stage / "backup.tar.gz"
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as raw:
            with (
                gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6) as packed,
                tarfile.open(fileobj=packed, mode="w") as archive,
            ):
                for name in (MANIFEST, *manifest.members):
                    archive.add(content / name, name, filter=_anonymous)
            raw.flush()
            os.fsync(raw.fileno())
        part.replace(file)
        return manifest


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Leave out who made the backup, and where."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


@contextlib.contextmanager
def _stage(file: Path) -> Iterator[Path]:
    """Give a private directory beside `file`, gone afterwards."""
    with explained(file):
        if file.is_dir():
            raise BackupFailed(f"{file} is a directory: give the name of a file in it")
        stage = Path(tempfile.mkdtemp(prefix=".isthmus-backup-", dir=file.absolute().parent))
        (stage / "content" / DATA).mkdir(parents=True)
    try:
        yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)


@contextlib.contextmanager
def explained(file: Path) -> Iterator[None]:
    """Turn an operating system's error into one line with the way out."""
    try:
        yield
    except OSError as error:
        raise BackupFailed(
            f"the backup {file} could not be written ({error.strerror or error}): "
            "choose a place with room, where you may write"
        ) from error
