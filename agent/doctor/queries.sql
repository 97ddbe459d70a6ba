-- name: server_version
-- The server's version as a number (180006) and as it is shown (18.6).
SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS version;

-- name: vector_extension
-- The extension vector: which version could be created, and which one is.
SELECT default_version, installed_version FROM pg_available_extensions WHERE name = 'vector';

-- name: notices_standing
-- Notices that were withdrawn and still stand on their platform, by why.
SELECT count(*) FILTER (WHERE state = 'unsupported') AS unsupported, count(*) FILTER (WHERE state = 'failed') AS failed,
       count(*) FILTER (WHERE state = 'pending') AS waiting
  FROM outbox WHERE kind = 'withdraw' AND state IN ('unsupported', 'failed', 'pending');
