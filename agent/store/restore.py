"""Brings a backup back into an empty database and an empty data directory.

Everything is unpacked and checked before anything is written; the database is filled in one transaction. Restore
only backups of your own: the database's part is a program that the database runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import hashlib
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import ValidationError

from agent.store.backup_files import DATA, DATABASE, FORMAT, MANIFEST, Manifest, data_files
from agent.store.connect import connect
from agent.store.errors import BackupDamaged, BackupFailed, RestoreFailed, RestoreRefused
from agent.store.migrate import QUERIES
from agent.store.migration_sets import MigrationSet
from agent.store.programs import client_program, run_client

_LONGEST_MANIFEST = 64 * 1024 * 1024
_CHUNK = 1024 * 1024
#: Servers before 17 do not know it, and pg_dump writes it all the same.
_NEW_SETTING = b"SET transaction_timeout = 0;\n"


async def restore(dsn: str, data_dir: Path, file: Path, *, sets: Sequence[MigrationSet]) -> Manifest:
    """Restore a backup made by `backup`; `migrate` afterwards brings older tables up to date.

    Raises BackupDamaged when the file is not what was written, RestoreRefused when a place is not empty or the
    backup is newer than this program, RestoreFailed when the database refused its part.
    """
    with _unpacked(file, data_dir) as stage:
        manifest = await asyncio.to_thread(unpack, file, stage)
        _refuse_newer(manifest, file, sets)
        await _fill_database(dsn, stage / DATABASE)
        await asyncio.to_thread(_place, stage / DATA, data_dir)
        return manifest


def unpack(file: Path, stage: Path) -> Manifest:
    """Unpack a backup into `stage` and check every byte of it. Blocks. Raises BackupDamaged."""
    try:
        with gzip.open(file, "rb") as packed, tarfile.open(fileobj=packed, mode="r|") as archive:
            members = iter(archive)
            manifest = _read_manifest(archive, next(members, None), file)
            missing = set(manifest.members)
            for member in members:
                if member.name not in missing or not member.isreg():
                    raise BackupDamaged(f"{file} holds {member.name!r}, which its manifest does not")
                missing.remove(member.name)
                _unpack_member(archive, member, stage / member.name, manifest, file)
    except FileNotFoundError as error:
        raise BackupDamaged(f"there is no backup {file}: check the name") from error
    except (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise BackupDamaged(f"{file} is damaged, or no backup of isthmus ({error}): use another copy") from error
    except OSError as error:
        raise RestoreFailed(f"{file} could not be unpacked into {stage.parent}: {error.strerror or error}") from error
    if missing:
        raise BackupDamaged(f"{file} lacks {min(missing)!r}: use another copy")
    return manifest


def _read_manifest(archive: tarfile.TarFile, member: tarfile.TarInfo | None, file: Path) -> Manifest:
    content = archive.extractfile(member) if member is not None and member.name == MANIFEST else None
    if content is None or member is None or member.size > _LONGEST_MANIFEST:
        raise BackupDamaged(f"{file} is no backup of isthmus: it does not begin with a manifest")
    try:
        manifest = Manifest.model_validate_json(content.read())
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(map(str, problem["loc"]))
        raise BackupDamaged(f"the manifest of {file} cannot be read ({where}: {problem['msg']})") from error
    if manifest.format != FORMAT:
        raise RestoreRefused(
            f"{file} has format {manifest.format}, and this version of isthmus reads {FORMAT}: "
            f"restore it with isthmus {manifest.isthmus_version}"
        )
    if DATABASE not in manifest.members:
        raise BackupDamaged(f"{file} holds no database")
    return manifest


def _unpack_member(
    archive: tarfile.TarFile, member: tarfile.TarInfo, target: Path, manifest: Manifest, file: Path
) -> None:
    expected = manifest.members[member.name]
    source = archive.extractfile(member)
    digest = hashlib.sha256()
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with target.open("xb") as output:
        while source is not None and (chunk := source.read(_CHUNK)):
            digest.update(chunk)
            output.write(chunk)
    if member.size != expected.size or digest.hexdigest() != expected.sha256:
        raise BackupDamaged(f"{member.name!r} in {file} is not what was written: use another copy")
    target.chmod(expected.mode & 0o700)


def _refuse_newer(manifest: Manifest, file: Path, sets: Sequence[MigrationSet]) -> None:
    for each in sets:
        head = each.migrations()[-1].revision
        found = manifest.heads.get(each.owner, head)
        if found > head:
            raise RestoreRefused(
                f"{file} was made by isthmus {manifest.isthmus_version}, whose tables of {each.owner} are at revision "
                f"{found}; this version knows up to {head}: install the newer version first"
            )


async def _fill_database(dsn: str, dump: Path) -> None:
    connection = await connect(dsn)
    try:
        tables = [record["relname"] for record in await connection.fetch(QUERIES["list_tables"])]
        if tables:
            raise RestoreRefused(
                f"the database is not empty (it holds {tables[0]}): restore into an empty one, "
                "with --data and an empty directory or with another [database] url"
            )
        if connection.get_server_version().major < 17:  # noqa: PLR2004  # see _NEW_SETTING
            await asyncio.to_thread(_leave_out, dump, _NEW_SETTING)
        try:
            program = await client_program("psql", connection)
        except BackupFailed as error:
            raise RestoreFailed(str(error)) from error
    finally:
        await connection.close()
    reason = await run_client(
        program, dsn, "--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1", f"--file={dump}"
    )
    if reason is not None:
        raise RestoreFailed(f"the database refused its part of the backup, and nothing was restored: {reason}")


def _leave_out(dump: Path, line: bytes) -> None:
    changed = dump.with_suffix(".older")
    with dump.open("rb") as source, changed.open("wb") as target:
        for number, each in enumerate(source):
            if number > 100 or each != line:  # noqa: PLR2004  # it stands at the head, before anybody's text
                target.write(each)
    changed.replace(dump)


def _place(stage: Path, data_dir: Path) -> None:
    for path in sorted(stage.rglob("*")):
        if path.is_file():
            target = data_dir / path.relative_to(stage)
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.rename(target)


@contextlib.contextmanager
def _unpacked(file: Path, data_dir: Path) -> Iterator[Path]:
    """Give a private directory in the data directory, gone afterwards. Refuses a data directory with files in it."""
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        stage = Path(tempfile.mkdtemp(prefix=".isthmus-restore-", dir=data_dir))
    except OSError as error:
        raise RestoreFailed(f"{file} cannot be restored into {data_dir}: {error.strerror}") from error
    try:
        if (found := next(data_files(data_dir, besides=stage), None)) is not None:
            raise RestoreRefused(f"{data_dir} is not empty (it holds {found.name}): give an empty one with --data")
        yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)
