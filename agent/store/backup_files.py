"""The files of a backup: which of the data directory belong in it, and the manifest that tells what it holds."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import stat
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, field_validator

from agent.store.cluster import CLUSTER, LOCK, LOG
from agent.store.errors import BackupFailed

FORMAT = 1
MANIFEST, DATABASE, DATA = "manifest.json", "database.sql", "data"
#: For whoever shows that a backup was made.
SECRETS_NOTE = "it holds the secrets of the data directory (secret_key): keep it as safe as that directory"
_PASSING_SUFFIXES = (".lock", ".pid", ".sock", ".tmp", "-wal", "-shm", "-journal")
_SQLITE = b"SQLite format 3\x00"


@dataclass(frozen=True, slots=True)
class Origin:
    """What makes a backup, of which revisions, and when."""

    isthmus_version: str
    postgresql_version: str
    heads: Mapping[str, str]
    created_at: datetime


class Member(BaseModel):
    """One file of a backup."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    size: int = Field(ge=0)
    mode: int = Field(ge=0, le=0o777)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Manifest(BaseModel):
    """What a backup holds, and what made it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int
    isthmus_version: str
    postgresql_version: str
    created_at: AwareDatetime
    #: The revision of each owner's tables.
    heads: dict[str, str]
    members: dict[str, Member]

    @field_validator("members")
    @classmethod
    def _stay_inside(cls, members: dict[str, Member]) -> dict[str, Member]:
        for name in members:
            parts = PurePosixPath(name).parts
            if name != DATABASE and (len(parts) < 2 or parts[0] != DATA or ".." in parts):  # noqa: PLR2004  # data/x
                raise ValueError(f"a member named {name!r}")
        return members


def data_files(data_dir: Path, *, besides: Path) -> Iterator[Path]:
    """Yield the files of a data directory that a backup holds: not the database's, nor what a process leaves.

    `besides` is left out with all below it: where the backup is being written.
    """
    for entry in sorted(data_dir.iterdir()):
        if entry.name in {CLUSTER, LOCK, LOG} or entry.name.startswith((f"{CLUSTER}.", ".isthmus-")):
            continue
        for path in (entry, *sorted(entry.rglob("*"))):
            is_file = stat.S_ISREG(path.lstat().st_mode)
            if is_file and besides not in path.parents and not path.name.endswith(_PASSING_SUFFIXES):
                yield path


def copy_data(data_dir: Path, target: Path, *, besides: Path) -> None:
    """Copy the files of a data directory; SQLite's by its own means, since somebody may be writing to them."""
    for path in data_files(data_dir, besides=besides):
        if not path.as_posix().isprintable():
            raise BackupFailed(f"{path.as_posix()!r} has a name that a backup cannot hold: rename or remove it")
        copy = target / path.relative_to(data_dir)
        copy.parent.mkdir(parents=True, exist_ok=True)
        with path.open("rb") as file:
            is_sqlite = file.read(len(_SQLITE)) == _SQLITE
        if is_sqlite:
            with (
                closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as source,
                closing(sqlite3.connect(copy)) as destination,
            ):
                source.backup(destination)
        else:
            shutil.copyfile(path, copy)
        copy.chmod(stat.S_IMODE(path.stat().st_mode) & 0o700)


def describe(stage: Path, origin: Origin) -> Manifest:
    """Return the manifest of what lies in a stage."""
    files = [path for path in sorted(stage.rglob("*")) if path.is_file()]
    return Manifest(
        format=FORMAT,
        isthmus_version=origin.isthmus_version,
        postgresql_version=origin.postgresql_version,
        created_at=origin.created_at,
        heads=dict(origin.heads),
        members={path.relative_to(stage).as_posix(): _describe(path) for path in files},
    )


def _describe(path: Path) -> Member:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    found = path.stat()
    return Member(size=found.st_size, mode=stat.S_IMODE(found.st_mode), sha256=digest)
