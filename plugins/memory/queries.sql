-- name: lock_to_tell
-- Locks what a write rests on, its accounts for a change, because somebody is to be told that the agent remembers.
SELECT memory_lock_to_tell($1::bigint[], $2::bigint[], $3, $4);

-- name: add_server
-- Under the locks: reinforces a near-duplicate, inserts, or evicts one and inserts, with event and revision.
SELECT outcome, memory_id, forgotten_id, forgotten_content, untold FROM server_memory_add($1, $2, $3, $4, $5);

-- name: add_personal
-- Under the locks: reinforces a near-duplicate, inserts, or evicts one and inserts, with event and revision.
SELECT outcome, memory_id, forgotten_id, forgotten_content, untold FROM personal_memory_add($1, $2, $3, $4, $5);

-- name: edit_server
-- Under the lock: replaces the content of a version, raises it, and writes event and revision; no row when it is gone.
WITH changed AS (
    UPDATE server_memories
       SET content = $2, content_key = $3, subject_account_id = $4, subject_user_id = $5,
           manually_written = manually_written OR $6, updated_at = $7, version = version + 1,
           words = array_to_tsvector($12::text[])
     WHERE server_memory_id = $1 AND version = $8
    RETURNING server_memory_id, server_id, persona_lineage_id, version
), noted AS (
    INSERT INTO memory_events (memory_id, scope, owner_id, persona_lineage_id, kind, actor_account_id,
                               source_turn_id, source_tool, happened_at)
    SELECT server_memory_id, 'server', server_id, persona_lineage_id, 'updated', $9, $10, $11, $7 FROM changed
)
SELECT version, raise_revision('server:' || server_id) FROM changed;

-- name: edit_personal
-- Under the lock: replaces the content of a version, raises it, and writes event and revision; no row when it is gone.
WITH changed AS (
    UPDATE personal_memories
       SET content = $2, content_key = $3, subject_account_id = $4, subject_user_id = $5,
           manually_written = manually_written OR $6, updated_at = $7, version = version + 1,
           words = array_to_tsvector($12::text[])
     WHERE personal_memory_id = $1 AND version = $8
    RETURNING personal_memory_id, user_id, persona_lineage_id, version
), noted AS (
    INSERT INTO memory_events (memory_id, scope, owner_id, persona_lineage_id, kind, actor_account_id,
                               source_turn_id, source_tool, happened_at)
    SELECT personal_memory_id, 'personal', user_id, persona_lineage_id, 'updated', $9, $10, $11, $7 FROM changed
)
SELECT version, raise_revision('user:' || user_id) FROM changed;

-- name: remove_server
-- Under the lock: removes a memory, keeps a copy for undo, and writes event and revision; no row when it is gone.
WITH gone AS MATERIALIZED (SELECT * FROM server_memory_forget($1, 'deleted', $2, $3, $4, $5))
SELECT content, raise_revision('server:' || server_id) FROM gone WHERE server_memory_id IS NOT NULL;

-- name: remove_personal
-- Under the lock: removes a memory, keeps a copy for undo, and writes event and revision; no row when it is gone.
WITH gone AS MATERIALIZED (SELECT * FROM personal_memory_forget($1, 'deleted', $2, $3, $4, $5))
SELECT content, raise_revision('user:' || user_id) FROM gone WHERE personal_memory_id IS NOT NULL;

-- name: set_told
-- Notes, under the lock, that a person was told that the agent remembers.
UPDATE accounts SET disclosed_at = $2 WHERE account_id = $1 AND disclosed_at IS NULL;

-- name: tell_once
-- Notes that a person is told that the agent remembers; a row when none of their accounts was told before.
UPDATE accounts SET disclosed_at = $2 WHERE account_id = $1 AND disclosed_at IS NULL AND memory_is_untold(account_id)
RETURNING true AS is_first;

-- name: count_saves
-- How many memories an account had the model save since a moment; those of a file are not the model's.
SELECT count(*) FROM memory_events
 WHERE actor_account_id = $1 AND happened_at > $2 AND kind = 'created' AND source_tool IS DISTINCT FROM 'import';

-- name: reinforce_server
-- Lets server memory $1 count as fresh again if it is at version $2, with turn $3 and moment $4; tells whether it was.
SELECT coalesce((SELECT cardinality(memories_reinforce(ARRAY[m.server_memory_id], $3, $4))
                   FROM server_memories m WHERE m.server_memory_id = $1 AND m.version = $2), 0) > 0;

-- name: reinforce_personal
-- The same for a personal memory.
SELECT coalesce((SELECT cardinality(memories_reinforce(ARRAY[m.personal_memory_id], $3, $4))
                   FROM personal_memories m WHERE m.personal_memory_id = $1 AND m.version = $2), 0) > 0;

-- name: read_server
-- One server memory by its id, of one server and lineage.
SELECT server_memory_id AS memory_id, true AS is_server, server_id AS owner_id, persona_lineage_id, content, audience,
       channel_disc_ids, channel_scope_pending, subject_account_id, subject_user_id, source_platform,
       source_server_id, source_channel_id, manually_written, last_reinforced_at, created_at, version
  FROM server_memories
 WHERE server_memory_id = $1 AND server_id = $2 AND persona_lineage_id = $3;

-- name: read_personal
-- One personal memory by its id, of one user and lineage.
SELECT personal_memory_id AS memory_id, false AS is_server, user_id AS owner_id, persona_lineage_id, content, audience,
       '{}'::text[] AS channel_disc_ids, false AS channel_scope_pending, subject_account_id, subject_user_id,
       source_platform, source_server_id, source_channel_id, manually_written, last_reinforced_at, created_at, version
  FROM personal_memories
 WHERE personal_memory_id = $1 AND user_id = $2 AND persona_lineage_id = $3;

-- name: read_block
-- Every memory of a server in a lineage, and of users in it and in lineage 0, in any order; null reads no server.
-- Nearly every channel scope is empty: null is read sooner.
SELECT server_memory_id AS memory_id, true AS is_server, server_id AS owner_id, persona_lineage_id, content, audience,
       NULLIF(channel_disc_ids, '{}') AS channel_disc_ids, channel_scope_pending, subject_account_id, subject_user_id,
       source_platform, source_server_id, source_channel_id, manually_written, last_reinforced_at, created_at, version
  FROM server_memories
 WHERE server_id = $1 AND persona_lineage_id = $3
UNION ALL
SELECT personal_memory_id, false, user_id, persona_lineage_id, content, audience,
       NULL, false, subject_account_id, subject_user_id, source_platform,
       source_server_id, source_channel_id, manually_written, last_reinforced_at, created_at, version
  FROM personal_memories
 WHERE user_id = ANY ($2::bigint[]) AND persona_lineage_id IN (0, $3);

-- name: read_standing
-- What privacy and blacklist say now about accounts, users, members of the server with the platform's ids $4, and
-- whoever is linked to them, with their names there.
SELECT f.account_id, f.user_id, f.privacy_level, f.forgotten_before, f.blacklisted, f.personal_off,
       coalesce(n.value, a.display_name) AS display_name, a.external_id
  FROM facts_of_people($1::bigint[] || ARRAY(
           SELECT m.account_id FROM accounts m
            WHERE m.external_id = ANY ($4::text[])
              AND EXISTS (SELECT FROM names x WHERE x.server_id = $3 AND x.account_id = m.account_id)),
       $2::bigint[], $3) f
  JOIN accounts a ON a.account_id = f.account_id
  LEFT JOIN names n ON n.server_id = $3 AND n.account_id = f.account_id AND n.source = 'guild';

-- name: read_standing_and_asleep
-- The same, and in rows without an account which of the memories $5 have a vector of the model $6.
SELECT f.account_id, f.user_id, f.privacy_level, f.forgotten_before, f.blacklisted, f.personal_off,
       coalesce(n.value, a.display_name) AS display_name, a.external_id, NULL::bigint AS memory_id
  FROM facts_of_people($1::bigint[] || ARRAY(
           SELECT m.account_id FROM accounts m
            WHERE m.external_id = ANY ($4::text[])
              AND EXISTS (SELECT FROM names x WHERE x.server_id = $3 AND x.account_id = m.account_id)),
       $2::bigint[], $3) f
  JOIN accounts a ON a.account_id = f.account_id
  LEFT JOIN names n ON n.server_id = $3 AND n.account_id = f.account_id AND n.source = 'guild'
 UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, e.memory_id
  FROM memory_embeddings e WHERE e.memory_id = ANY ($5::bigint[]) AND e.model = $6;

-- name: forgotten_subject
-- Whom a removed memory was about, as a server shows that person; no row where nobody may be named.
SELECT coalesce(n.value, a.display_name) AS name
  FROM forgotten_memories f
  JOIN accounts a ON a.account_id = coalesce(
           f.subject_account_id,
           (SELECT min(x.account_id) FROM accounts x WHERE x.user_id = coalesce(f.user_id, f.subject_user_id)))
  LEFT JOIN names n ON n.server_id = $2 AND n.account_id = a.account_id AND n.source = 'guild'
 WHERE f.memory_id = $1
   AND NOT EXISTS (SELECT FROM facts_of_people(ARRAY[a.account_id], '{}', $2) p WHERE p.privacy_level = 'full');

-- name: read_facts
-- What privacy and blacklist say now about accounts and users and whoever is linked to them.
SELECT account_id, user_id, privacy_level, forgotten_before, blacklisted, personal_off
  FROM facts_of_people($1::bigint[], $2::bigint[], $3);

-- name: read_forgotten
-- A memory that was removed a moment ago, from its undo copy, with the columns of read_server.
SELECT memory_id, scope = 'server', coalesce(server_id, user_id), (memory ->> 'persona_lineage_id')::bigint,
       memory ->> 'content', memory ->> 'audience', '{}'::text[], false, subject_account_id, subject_user_id,
       memory ->> 'source_platform', (memory ->> 'source_server_id')::bigint, memory ->> 'source_channel_id',
       (memory ->> 'manually_written')::boolean, (memory ->> 'last_reinforced_at')::timestamptz,
       (memory ->> 'created_at')::timestamptz, (memory ->> 'version')::integer
  FROM forgotten_memories WHERE memory_id = $1;

-- name: export_personal
-- Everything that is remembered about a person, by any of their accounts or by user, oldest first.
SELECT personal_memory_id AS memory_id, persona_lineage_id, content, audience, origin, tags, manually_written,
       source_platform, source_server_id, source_channel_id, source_message_id, last_reinforced_at, created_at,
       updated_at, version
  FROM personal_memories
 WHERE user_id = $2
    OR subject_account_id IN (SELECT account_id FROM accounts WHERE account_id = $1 OR user_id = $2)
 ORDER BY personal_memory_id;

-- name: export_server
-- Every server memory that is about a person, by any of their accounts or by user, oldest first.
SELECT server_memory_id AS memory_id, server_id, persona_lineage_id, content, audience, origin, tags, manually_written,
       source_platform, source_channel_id, source_message_id, last_reinforced_at, created_at, updated_at, version
  FROM server_memories
 WHERE subject_user_id = $2
    OR subject_account_id IN (SELECT account_id FROM accounts WHERE account_id = $1 OR user_id = $2)
 ORDER BY server_memory_id;

-- name: export_forgotten
-- The undo copies about a person that still wait for their end.
SELECT memory_id, scope, reason, memory ->> 'content' AS content, forgotten_at
  FROM forgotten_memories
 WHERE user_id = $2 OR subject_user_id = $2
    OR subject_account_id IN (SELECT account_id FROM accounts WHERE account_id = $1 OR user_id = $2)
 ORDER BY memory_id;

-- name: lock_servers_about
-- Locks, ascending, the servers that remember something about a person, before an erasure changes them.
SELECT server_id FROM servers
 WHERE server_id IN (
           SELECT server_id FROM server_memories
            WHERE subject_user_id = $2
               OR subject_account_id IN (SELECT account_id FROM accounts WHERE account_id = $1 OR user_id = $2))
 ORDER BY server_id FOR NO KEY UPDATE;

-- name: erase
-- Removes everything about a person, undo copies too, notes it without content, and counts it.
WITH mine AS MATERIALIZED (
    SELECT account_id FROM accounts WHERE account_id = $1 OR user_id = $2
), personal AS (
    -- What is about an account that was unlinked and can own nothing is another one's.
    DELETE FROM personal_memories WHERE user_id = $2 OR subject_account_id IN (SELECT account_id FROM mine)
    RETURNING personal_memory_id AS memory_id, user_id, persona_lineage_id, source_platform, source_message_id
), about AS (
    DELETE FROM server_memories
     WHERE subject_user_id = $2 OR subject_account_id IN (SELECT account_id FROM mine)
    RETURNING server_memory_id AS memory_id, server_id, persona_lineage_id, source_platform, source_message_id
), copies AS (
    DELETE FROM forgotten_memories
     WHERE user_id = $2 OR subject_user_id = $2 OR subject_account_id IN (SELECT account_id FROM mine)
    RETURNING memory_id, memory ->> 'source_platform' AS source_platform,
              memory ->> 'source_message_id' AS source_message_id
), gone AS (
    SELECT memory_id, source_platform, source_message_id FROM personal
    UNION ALL SELECT memory_id, source_platform, source_message_id FROM about
    UNION ALL SELECT memory_id, source_platform, source_message_id FROM copies
), noted AS (
    INSERT INTO memory_events (memory_id, scope, owner_id, persona_lineage_id, kind, happened_at)
    SELECT memory_id, 'personal', user_id, persona_lineage_id, 'erased', $3::timestamptz FROM personal
    UNION ALL SELECT memory_id, 'server', server_id, persona_lineage_id, 'erased', $3::timestamptz FROM about
), owners AS (
    SELECT DISTINCT 'server:' || server_id AS owner FROM about
    UNION SELECT DISTINCT 'user:' || user_id FROM personal
), raised AS MATERIALIZED (
    SELECT owner, raise_revision(owner) FROM (SELECT owner FROM owners ORDER BY owner) AS ordered
)
SELECT (SELECT count(*) FROM personal) AS personal_memories,
       (SELECT count(*) FROM about) AS server_memories,
       (SELECT count(*) FROM copies) AS undo_copies,
       (SELECT array_agg(owner) FROM raised) AS owners,
       ARRAY(SELECT memory_id FROM gone) AS memory_ids,
       ARRAY(SELECT source_platform FROM gone WHERE source_message_id IS NOT NULL ORDER BY memory_id) AS platforms,
       ARRAY(SELECT source_message_id FROM gone WHERE source_message_id IS NOT NULL ORDER BY memory_id) AS messages;

-- name: erase_authorship
-- Takes a person's name off what they wrote about others; the undo copies forget it too.
WITH mine AS MATERIALIZED (
    SELECT account_id FROM accounts WHERE account_id = $1 OR user_id = $2
), server AS (
    UPDATE server_memories SET author_account_id = NULL
     WHERE author_account_id IN (SELECT account_id FROM mine) RETURNING 1
), personal AS (
    UPDATE personal_memories SET author_account_id = NULL
     WHERE author_account_id IN (SELECT account_id FROM mine) RETURNING 1
), copies AS (
    UPDATE forgotten_memories SET memory = memory || '{"author_account_id": null}'
     WHERE (memory ->> 'author_account_id')::bigint IN (SELECT account_id FROM mine) RETURNING 1
), events AS (
    UPDATE memory_events SET actor_account_id = NULL
     WHERE actor_account_id IN (SELECT account_id FROM mine) RETURNING 1
)
SELECT (SELECT count(*) FROM server) + (SELECT count(*) FROM personal) + (SELECT count(*) FROM copies) AS authorships,
       (SELECT count(*) FROM events) AS events;

-- name: sweep_forgotten
-- Removes the undo copies that are older than a moment.
DELETE FROM forgotten_memories WHERE forgotten_at <= $1;

-- name: count_memories
-- How many memories there are, for the health check.
SELECT (SELECT count(*) FROM server_memories) AS server, (SELECT count(*) FROM personal_memories) AS personal;
