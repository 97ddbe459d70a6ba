"""The files of the embedded server: where they lie, how they are made, what can be wrong with them."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from agent.store import launch
from agent.store.binaries import ServerUser, major_version, package_version, programs_for
from agent.store.errors import (
    DataDirectoryUnusable,
    DiskFull,
    EmbeddedServerError,
    OtherMajorVersion,
    ServerStartFailed,
)

#: Names that this package makes in a data directory; whatever else lies there belongs to the agent.
CLUSTER, LOCK, LOG = "postgres", "postgres.lock", "postgres.log"
#: Longest address of a unix socket, in bytes, that every supported system takes (macOS has the least room).
SOCKET_LIMIT = 103
SOCKET_NAME = ".s.PGSQL.5432"
SOCKET_FALLBACK = Path("/tmp")  # noqa: S108  # two processes must agree on it, whatever TMPDIR says

#: Bytes; a server writes a segment of its log, 16 MB, before it takes connections.
_LEAST_FREE = 16 * 1024 * 1024
_NO_SPACE = ("No space left on device", "Disk quota exceeded")
_NO_RIGHT = ("Permission denied", "Read-only file system", "Operation not permitted", "invalid permissions")


@contextlib.contextmanager
def explained(data_dir: Path) -> Iterator[None]:
    """Turn an operating system's error on the data directory into one line with the way out."""
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise disk_full(data_dir) from error
        raise DataDirectoryUnusable(
            f"the data directory {data_dir} cannot be used ({error.strerror}): "
            "make it writable, or choose another with --data"
        ) from error


def disk_full(data_dir: Path) -> DiskFull:
    """Return the error for a full disk."""
    return DiskFull(
        f"the disk that holds {data_dir} is full: free at least 100 MB, or choose another directory with --data"
    )


def explain_output(output: str, data_dir: Path) -> EmbeddedServerError:
    """Return what the output of a PostgreSQL program that failed means."""
    if any(text in output for text in _NO_SPACE):
        return disk_full(data_dir)
    if "database files are incompatible with server" in output:
        return _other_version(data_dir, "another")
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if "FATAL" in line or "PANIC" in line or "error:" in line]
    reason = (telling or lines or ["it said nothing"])[-1]
    if any(text in output for text in _NO_RIGHT):
        return DataDirectoryUnusable(
            f"PostgreSQL may not use {data_dir}: {reason}: make it writable for whoever runs isthmus, "
            "or choose another with --data"
        )
    if shutil.disk_usage(data_dir).free < _LEAST_FREE:  # then the log could not tell why
        return disk_full(data_dir)
    return ServerStartFailed(f"the embedded PostgreSQL did not start: {reason}: see {data_dir / LOG}")


def check_version(data_dir: Path) -> bool:
    """Return whether there is a cluster; refuse one of another major version."""
    with explained(data_dir):
        try:
            found = (data_dir / CLUSTER / "PG_VERSION").read_text("ascii").strip()
        except FileNotFoundError:
            return False
    if found != major_version():
        raise _other_version(data_dir, found)
    return True


def _other_version(data_dir: Path, found: str) -> OtherMajorVersion:
    return OtherMajorVersion(
        f"{data_dir / CLUSTER} was made by PostgreSQL {found}, and this program brings {package_version()}: "
        "make a backup with the isthmus that made it (`isthmus backup FILE`), then `isthmus restore FILE` "
        "into a new directory (--data)"
    )


def make_data_directory(data_dir: Path) -> None:
    """Make the data directory, closed to others."""
    with explained(data_dir):
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)


def command_for(user: ServerUser, cluster: Path, program: str, *arguments: str | Path) -> list[str | Path]:
    """Return the command that runs a program on a cluster as `user`, stopped when the calling thread dies.

    In the arguments, `cluster` itself is put as `user` can reach it.
    """
    path: str | Path = cluster
    if not user.reaches(cluster):
        path = launch.HELD
        if not Path("/proc/self/fd").is_dir():
            raise DataDirectoryUnusable(
                f"PostgreSQL does not run as root, and no other user can enter {cluster.parent}: "
                "give a directory outside of root's home with --data, or start isthmus as an ordinary user"
            )
    given = [str(each).replace(str(cluster), str(path)) for each in arguments]
    python = [sys.executable, "-I", "-S", launch.__file__]
    return [*python, str(os.getpid()), str(user.uid), str(user.gid), cluster, programs_for(user) / program, *given]


def environment() -> dict[str, str]:
    """Return what the server needs of our environment, which may hold tokens that it must not have."""
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "TZDIR") if name in os.environ}
    return {"PATH": os.defpath, "LC_ALL": "C", **kept}


def make_cluster(data_dir: Path, user: ServerUser, *, durable: bool) -> None:
    """Make a new cluster beside its place and move it there, so that half a cluster never counts as one.

    The caller holds the lock of the data directory. `durable=False` does not wait for the disk (tests).
    """
    place = data_dir / CLUSTER
    with explained(data_dir):
        for leftover in data_dir.glob(f"{CLUSTER}.new-*"):
            shutil.rmtree(leftover)
        if place.is_dir() and any(place.iterdir()):
            raise DataDirectoryUnusable(
                f"{place} is not empty and holds no database: move it away, or choose another directory with --data"
            )
        part = Path(tempfile.mkdtemp(prefix=f"{CLUSTER}.new-", dir=data_dir))
        user.own(part)
    try:
        _initdb(part, data_dir, user, durable=durable)
        with explained(data_dir):
            if place.is_dir():
                place.rmdir()
            part.rename(place)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _initdb(part: Path, data_dir: Path, user: ServerUser, *, durable: bool) -> None:
    options = ["-U", "app", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8"]
    if not durable:
        options.append("--no-sync")
    result = subprocess.run(
        command_for(user, part, "initdb", "-D", part, *options),
        cwd="/",
        env=environment(),
        capture_output=True,
        check=False,
        start_new_session=True,
    )
    if result.returncode != 0:
        raise explain_output(result.stderr.decode(errors="replace"), data_dir)


def socket_directory(data_dir: Path, user: ServerUser) -> Path:
    """Return the directory of the server's socket: the cluster's own, or a short one when that is too long."""
    cluster = (data_dir / CLUSTER).resolve()
    address = os.fsencode(cluster / SOCKET_NAME)
    # A comma separates hosts, both for the server and for its clients.
    if len(address) <= SOCKET_LIMIT and not set(str(cluster)) & set(",\"'\\\n"):
        return cluster
    digest = hashlib.sha256(os.fsencode(cluster)).hexdigest()[:16]
    return SOCKET_FALLBACK / f"isthmus-{user.uid}-{digest}"


def make_socket_directory(directory: Path, user: ServerUser) -> None:
    """Make the directory of the socket; refuse one that somebody else has put there."""
    try:
        directory.mkdir(mode=0o700)
        user.own(directory)
    except FileExistsError:
        pass
    found = directory.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != user.uid or found.st_mode & 0o077:
        raise DataDirectoryUnusable(f"{directory} belongs to somebody else: remove it, or use a shorter --data path")
