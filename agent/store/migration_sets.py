"""Migrations as files: each owner of tables has a package of numbered SQL files, and nothing else."""

from __future__ import annotations

import importlib.resources
import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent.store.errors import MigrationFileError

_FILE = re.compile(r"(?P<number>[0-9]{4})_[a-z0-9_]+\.sql")
_OWNER = re.compile(r"[a-z][a-z0-9_]{0,39}")


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of a schema: its number (the revision), its file's name and its SQL."""

    revision: str
    file: str
    sql: str


@dataclass(frozen=True, slots=True)
class MigrationSet:
    """The migrations of one owner (`core`, or a plugin's name): the SQL files of a package, in order.

    Files are named `0001_schema.sql`, `0002_what_it_does.sql`, …; each runs once, in a transaction that it neither
    begins nor ends.
    """

    owner: str
    package: str

    def __post_init__(self) -> None:
        if not _OWNER.fullmatch(self.owner):
            raise MigrationFileError(
                f"the owner {self.owner!r} of migrations is not lower-case letters, digits and underscores"
            )

    @property
    def version_table(self) -> str:
        """The table that holds how far this owner's tables are migrated."""
        return f"alembic_version_{self.owner}"

    def migrations(self) -> Sequence[Migration]:
        """Return the migrations, oldest first. Raises MigrationFileError for a gap or a file that is misnamed."""
        found: list[Migration] = []
        files = (entry for entry in importlib.resources.files(self.package).iterdir() if entry.name.endswith(".sql"))
        for entry in sorted(files, key=lambda entry: entry.name):
            match = _FILE.fullmatch(entry.name)
            if not match or int(match["number"]) != len(found) + 1:
                raise MigrationFileError(
                    f"{self.package}/{entry.name}: expected a name like {len(found) + 1:04}_what_it_does.sql"
                )
            found.append(Migration(match["number"], entry.name, entry.read_text("utf-8")))
        if not found:
            raise MigrationFileError(f"{self.package} holds no migrations: expected 0001_what_it_does.sql")
        return tuple(found)


CORE = MigrationSet("core", "migrations.core")
