-- name: read_forgotten_server
-- The undo copy of a server memory that was removed since a moment, with its author.
SELECT m.server_memory_id AS memory_id, true AS is_server, m.server_id AS owner_id, m.persona_lineage_id, m.content,
       m.audience, m.channel_disc_ids, m.channel_scope_pending, m.subject_account_id, m.subject_user_id,
       m.source_platform, m.source_server_id, m.source_channel_id, m.manually_written, m.last_reinforced_at,
       m.created_at, m.version, a.account_id AS author_account_id, a.user_id AS author_user_id,
       CASE f.reason WHEN 'evicted' THEN f.forgotten_at END AS gave_way_at
  FROM forgotten_memories f
 CROSS JOIN jsonb_populate_record(NULL::server_memories, f.memory) m
  LEFT JOIN accounts a ON a.account_id = m.author_account_id
 WHERE f.memory_id = $1 AND f.forgotten_at > $2 AND f.scope = 'server';

-- name: read_forgotten_personal
-- The undo copy of a personal memory that was removed since a moment, with its author.
SELECT m.personal_memory_id AS memory_id, false AS is_server, m.user_id AS owner_id, m.persona_lineage_id, m.content,
       m.audience, '{}'::text[] AS channel_disc_ids, false AS channel_scope_pending, m.subject_account_id,
       m.subject_user_id, m.source_platform, m.source_server_id, m.source_channel_id, m.manually_written,
       m.last_reinforced_at, m.created_at, m.version, a.account_id AS author_account_id, a.user_id AS author_user_id,
       CASE f.reason WHEN 'evicted' THEN f.forgotten_at END AS gave_way_at
  FROM forgotten_memories f
 CROSS JOIN jsonb_populate_record(NULL::personal_memories, f.memory) m
  LEFT JOIN accounts a ON a.account_id = m.author_account_id
 WHERE f.memory_id = $1 AND f.forgotten_at > $2 AND f.scope = 'personal';

-- name: same_server
-- A server memory that says the same as an undo copy, in the same lineage, audience and channels.
SELECT min(m.server_memory_id)
  FROM forgotten_memories f, jsonb_populate_record(NULL::server_memories, f.memory) d
  JOIN server_memories m ON m.content_key = d.content_key
 WHERE f.memory_id = $1 AND m.server_id = d.server_id AND m.persona_lineage_id = d.persona_lineage_id
   AND m.audience = d.audience
   AND m.channel_disc_ids @> d.channel_disc_ids AND m.channel_disc_ids <@ d.channel_disc_ids
   AND m.channel_scope_pending = d.channel_scope_pending
   AND m.legacy_channel_scope_tags = d.legacy_channel_scope_tags
   AND (m.audience <> 'channel' OR (m.source_platform = d.source_platform
        AND m.source_channel_id IS NOT DISTINCT FROM d.source_channel_id))
   AND m.subject_user_id IS NOT DISTINCT FROM d.subject_user_id
   AND (m.subject_user_id IS NOT NULL OR m.subject_account_id IS NOT DISTINCT FROM d.subject_account_id);

-- name: same_personal
-- A personal memory that says the same as an undo copy, in the same lineage and audience.
SELECT min(m.personal_memory_id)
  FROM forgotten_memories f, jsonb_populate_record(NULL::personal_memories, f.memory) d
  JOIN personal_memories m ON m.content_key = d.content_key
 WHERE f.memory_id = $1 AND m.user_id = d.user_id AND m.persona_lineage_id = d.persona_lineage_id
   AND m.audience = d.audience
   AND (m.audience <> 'channel' OR (m.source_platform = d.source_platform
        AND m.source_channel_id IS NOT DISTINCT FROM d.source_channel_id))
   AND (m.audience <> 'server' OR m.source_server_id IS NOT DISTINCT FROM d.source_server_id);

-- name: restore_server
-- Under the lock: brings a server memory back under its id, with event and revision; no row when there is no copy.
-- Its source and author may be gone meanwhile.
WITH back AS (
    DELETE FROM forgotten_memories WHERE memory_id = $1 AND forgotten_at > $2 AND scope = 'server'
    RETURNING memory || jsonb_build_object(
        'source_server_id', (SELECT server_id FROM servers WHERE server_id = (memory ->> 'source_server_id')::bigint),
        'author_account_id',
        (SELECT account_id FROM accounts WHERE account_id = (memory ->> 'author_account_id')::bigint)) AS memory
), restored AS (
    INSERT INTO server_memories
    SELECT m.* FROM back, jsonb_populate_record(NULL::server_memories, back.memory) m
    RETURNING server_memory_id, server_id, persona_lineage_id
), noted AS (
    INSERT INTO memory_events (memory_id, scope, owner_id, persona_lineage_id, kind, actor_account_id,
                               source_turn_id, source_tool, happened_at)
    SELECT server_memory_id, 'server', server_id, persona_lineage_id, 'restored', $4, NULL, $5, $3::timestamptz
      FROM restored
)
SELECT server_memory_id AS memory_id, raise_revision('server:' || server_id) FROM restored;

-- name: restore_personal
-- Under the lock: brings a personal memory back under its id, with event and revision; no row when there is no copy.
-- Its source and author may be gone meanwhile.
WITH back AS (
    DELETE FROM forgotten_memories WHERE memory_id = $1 AND forgotten_at > $2 AND scope = 'personal'
    RETURNING memory || jsonb_build_object(
        'source_server_id', (SELECT server_id FROM servers WHERE server_id = (memory ->> 'source_server_id')::bigint),
        'author_account_id',
        (SELECT account_id FROM accounts WHERE account_id = (memory ->> 'author_account_id')::bigint)) AS memory
), restored AS (
    INSERT INTO personal_memories
    SELECT m.* FROM back, jsonb_populate_record(NULL::personal_memories, back.memory) m
    RETURNING personal_memory_id, user_id, persona_lineage_id
), noted AS (
    INSERT INTO memory_events (memory_id, scope, owner_id, persona_lineage_id, kind, actor_account_id,
                               source_turn_id, source_tool, happened_at)
    SELECT personal_memory_id, 'personal', user_id, persona_lineage_id, 'restored', $4, NULL, $5, $3::timestamptz
      FROM restored
)
SELECT personal_memory_id AS memory_id, raise_revision('user:' || user_id) FROM restored;

-- name: recent_server
-- The undo copies of a server since a moment, the last first.
SELECT m.server_memory_id AS memory_id, true AS is_server, m.server_id AS owner_id, m.persona_lineage_id, m.content,
       m.audience, m.channel_disc_ids, m.channel_scope_pending, m.subject_account_id, m.subject_user_id,
       m.source_platform, m.source_server_id, m.source_channel_id, m.manually_written, m.last_reinforced_at,
       m.created_at, m.version
  FROM forgotten_memories f CROSS JOIN jsonb_populate_record(NULL::server_memories, f.memory) m
 WHERE f.server_id = $1 AND f.forgotten_at > $2
 ORDER BY f.forgotten_at DESC, f.memory_id DESC LIMIT 100;

-- name: recent_personal
-- The undo copies of a user since a moment, the last first.
SELECT m.personal_memory_id AS memory_id, false AS is_server, m.user_id AS owner_id, m.persona_lineage_id, m.content,
       m.audience, '{}'::text[] AS channel_disc_ids, false AS channel_scope_pending, m.subject_account_id,
       m.subject_user_id, m.source_platform, m.source_server_id, m.source_channel_id, m.manually_written,
       m.last_reinforced_at, m.created_at, m.version
  FROM forgotten_memories f CROSS JOIN jsonb_populate_record(NULL::personal_memories, f.memory) m
 WHERE f.user_id = $1 AND f.forgotten_at > $2
 ORDER BY f.forgotten_at DESC, f.memory_id DESC LIMIT 100;
