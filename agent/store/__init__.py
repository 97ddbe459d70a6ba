"""Everything that keeps: the connection pool, the embedded server, migrations, queries, backups, revisions."""
