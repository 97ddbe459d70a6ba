-- name: list_tables
-- The tables and views of our schema that belong to no extension.
SELECT c.relname
FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace
  AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
ORDER BY c.relname;

-- name: lock_migrations
-- Waits until no other process migrates this database; released at the end of the transaction.
SELECT pg_advisory_xact_lock(7305530113210451);

-- name: bump_revisions
-- Raises the revisions of owners ($1), in one order for everybody; their new values.
INSERT INTO owner_revisions AS r (owner, revision)
SELECT DISTINCT o.owner, 1 FROM unnest($1::text[]) AS o (owner) ORDER BY o.owner
ON CONFLICT (owner) DO UPDATE SET revision = r.revision + 1
RETURNING owner, revision;

-- name: read_revisions
-- The revisions of owners ($1); those never raised have no row.
SELECT owner, revision FROM owner_revisions WHERE owner = ANY ($1::text[]);

-- name: notify_revisions
-- Tells the other processes, on channel $1, whose revisions ($2) were raised.
SELECT pg_notify($1, $2);

-- name: is_encrypted
-- Whether this connection uses TLS.
SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid();

-- name: server_version
-- The server's version, such as 18.6.
SELECT current_setting('server_version');
