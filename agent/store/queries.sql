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
