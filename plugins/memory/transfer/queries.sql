-- name: server_rows
-- Every memory of a server with whom it is about and where it was said, oldest first; null reads every lineage.
SELECT m.server_memory_id AS memory_id, m.persona_lineage_id, m.content, m.audience, m.tags, m.origin,
       m.manually_written, m.source_platform, s.external_id AS source_server, m.source_channel_id,
       m.created_at, m.updated_at, m.last_reinforced_at, m.version, m.server_id AS owner_id, m.source_server_id,
       m.subject_account_id, m.subject_user_id,
       a.platform AS person_platform, a.external_id AS person_id, a.display_name AS person_name
  FROM server_memories m
  LEFT JOIN servers s ON s.server_id = m.source_server_id
  LEFT JOIN accounts a ON a.account_id = coalesce(
           m.subject_account_id, (SELECT min(x.account_id) FROM accounts x WHERE x.user_id = m.subject_user_id))
 WHERE m.server_id = $1 AND ($2::bigint IS NULL OR m.persona_lineage_id = $2)
 ORDER BY m.server_memory_id;

-- name: personal_rows
-- Every memory about a user with where it was said, oldest first; null reads every lineage.
SELECT m.personal_memory_id AS memory_id, m.persona_lineage_id, m.content, m.audience, m.tags, m.origin,
       m.manually_written, m.source_platform, s.external_id AS source_server, m.source_channel_id,
       m.created_at, m.updated_at, m.last_reinforced_at, m.version, m.user_id AS owner_id, m.source_server_id,
       m.subject_account_id, m.subject_user_id,
       a.platform AS person_platform, a.external_id AS person_id, a.display_name AS person_name
  FROM personal_memories m
  LEFT JOIN servers s ON s.server_id = m.source_server_id
  LEFT JOIN accounts a ON a.account_id = (SELECT min(x.account_id) FROM accounts x WHERE x.user_id = m.user_id)
 WHERE m.user_id = $1 AND ($2::bigint IS NULL OR m.persona_lineage_id = $2)
 ORDER BY m.personal_memory_id;

-- name: server
-- A server as a file names it.
SELECT platform, external_id, name FROM servers WHERE server_id = $1;

-- name: lineage_names
-- The names of the personas of some lineages, in every server.
SELECT DISTINCT persona_lineage_id, nickname FROM personas
 WHERE persona_lineage_id = ANY ($1::bigint[]) AND nickname IS NOT NULL
 ORDER BY persona_lineage_id, nickname;

-- name: personas_of_user
-- The personas, of every server, whose lineages remember something about a user.
SELECT DISTINCT p.persona_lineage_id, p.nickname FROM personas p
 WHERE p.nickname IS NOT NULL
   AND p.persona_lineage_id IN (SELECT m.persona_lineage_id FROM personal_memories m WHERE m.user_id = $1)
 ORDER BY p.persona_lineage_id, p.nickname;

-- name: accounts_of
-- The accounts of some ids; a null platform means every one.
SELECT DISTINCT a.account_id, a.user_id, a.platform, a.external_id, a.display_name, wanted.platform AS asked
  FROM unnest($1::text[], $2::text[]) AS wanted(platform, external_id)
  JOIN accounts a ON a.external_id = wanted.external_id AND (wanted.platform IS NULL OR a.platform = wanted.platform)
 ORDER BY a.account_id;

-- name: accounts_of_user
-- The accounts of a user.
SELECT account_id, platform, external_id FROM accounts WHERE user_id = $1 ORDER BY account_id;

-- name: user_of
-- The user of an account.
SELECT user_id FROM accounts WHERE account_id = $1;

-- name: servers_of
-- The servers of some ids.
SELECT s.server_id, s.platform, s.external_id
  FROM unnest($1::text[], $2::text[]) AS wanted(platform, external_id)
  JOIN servers s USING (platform, external_id);

-- name: lock_accounts
-- Locks, ascending, every account that an import rests on, before any other lock.
SELECT FROM accounts WHERE account_id = ANY ($1::bigint[]) OR user_id = ANY ($2::bigint[])
 ORDER BY account_id FOR SHARE;

-- name: lock_user
-- Locks a user whom an import rests on.
SELECT FROM users WHERE user_id = $1 FOR SHARE;

-- name: lock_owner
-- Locks the user who owns what is imported.
SELECT FROM users WHERE user_id = $1 FOR NO KEY UPDATE;

-- name: lock_place
-- Locks the server in which is imported, after its people.
SELECT FROM servers WHERE server_id = $1 FOR SHARE;

-- name: lock_server
-- Locks the server that owns what is imported, after its people.
SELECT FROM servers WHERE server_id = $1 FOR NO KEY UPDATE;

-- name: may_be_named
-- Whether whoever imports has not asked to be forgotten since.
SELECT EXISTS (SELECT FROM accounts WHERE account_id = $1 AND (forgotten_before IS NULL OR forgotten_before < $2));

-- name: clear_server
-- Under the lock: removes what an export of a server holds, with copies for undo and events, and counts it by subject.
WITH old AS MATERIALIZED (
    SELECT server_memory_id FROM server_memories
     WHERE server_id = $1 AND ($2::bigint IS NULL OR persona_lineage_id = $2)
       AND ($3 OR audience IN ('open', 'server'))
     ORDER BY server_memory_id
), gone AS MATERIALIZED (
    SELECT forgotten.subject_account_id, forgotten.subject_user_id
      FROM old, LATERAL server_memory_forget(old.server_memory_id, 'deleted', $4, NULL, 'import', $5) AS forgotten
)
SELECT subject_account_id, subject_user_id, count(*) AS removed FROM gone GROUP BY 1, 2;

-- name: clear_personal
-- Under the lock: removes what an export of a user's memories holds, with copies for undo and events, and counts it by subject.
WITH old AS MATERIALIZED (
    SELECT personal_memory_id FROM personal_memories
     WHERE user_id = $1 AND ($2::bigint IS NULL OR persona_lineage_id = $2) AND $3
     ORDER BY personal_memory_id
), gone AS MATERIALIZED (
    SELECT forgotten.subject_account_id, forgotten.subject_user_id
      FROM old, LATERAL personal_memory_forget(old.personal_memory_id, 'deleted', $4, NULL, 'import', $5) AS forgotten
)
SELECT subject_account_id, subject_user_id, count(*) AS removed FROM gone GROUP BY 1, 2;

-- name: raise_revision
-- Under the lock: says that the state of an owner has changed.
SELECT raise_revision($1);

-- name: find_scoped
-- The memory of a server that says the same, about the same and for the same, in some channels only.
SELECT min(server_memory_id) FROM server_memories d
 WHERE d.content_key = $1 AND d.server_id = $2 AND d.persona_lineage_id = $3 AND d.audience = $4
   AND (d.audience <> 'channel' OR (d.source_platform = $5 AND d.source_channel_id IS NOT DISTINCT FROM $6))
   AND d.subject_user_id IS NOT DISTINCT FROM $7
   AND (d.subject_user_id IS NOT NULL OR d.subject_account_id IS NOT DISTINCT FROM $8)
   AND (cardinality(d.channel_disc_ids) > 0 OR d.channel_scope_pending);

-- name: date_server
-- Under the lock: gives imported memories the age that their file says; they count as reinforced by the import.
UPDATE server_memories m SET created_at = dated.created_at, last_reinforced_at = $3
  FROM unnest($1::bigint[], $2::timestamptz[]) AS dated(memory_id, created_at)
 WHERE m.server_memory_id = dated.memory_id;

-- name: date_personal
-- Under the lock: gives imported memories the age that their file says; they count as reinforced by the import.
UPDATE personal_memories m SET created_at = dated.created_at, last_reinforced_at = $3
  FROM unnest($1::bigint[], $2::timestamptz[]) AS dated(memory_id, created_at)
 WHERE m.personal_memory_id = dated.memory_id;
