"""Where encryption keys are kept: nio's SQLite store, opened so that writing holds nobody up."""

from __future__ import annotations

from typing import Any

from nio.store import SqliteStore
from peewee import SqliteDatabase


class KeyStore(SqliteStore):  # type: ignore[misc]  # nio ships no types
    """Commits go to a log that is not waited for: a process that is killed loses nothing, a machine the last moment."""

    def _create_database(self) -> Any:
        pragmas = {"foreign_keys": 1, "secure_delete": 1, "journal_mode": "wal", "synchronous": 1}
        return SqliteDatabase(self.database_path, pragmas=pragmas)
