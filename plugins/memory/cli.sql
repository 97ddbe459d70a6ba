-- name: memories
-- Memories of a server ($1), of a user ($2), or of one id ($3), of a lineage ($4; lineage 0 too) or of all, by id.
WITH found AS (
    SELECT server_memory_id AS memory_id, 'server' AS scope, server_id, NULL::bigint AS user_id, persona_lineage_id,
           content, audience, channel_disc_ids, channel_scope_pending, legacy_channel_scope_tags, tags, origin,
           manually_written, subject_account_id, subject_user_id, source_platform, source_channel_id,
           source_message_id, source_turn_id, source_tool, author_account_id, last_reinforced_at, created_at,
           updated_at, version
      FROM server_memories
     WHERE (server_id = $1 OR server_memory_id = $3) AND ($4::bigint IS NULL OR persona_lineage_id = $4)
    UNION ALL
    SELECT personal_memory_id, 'personal', source_server_id, user_id, persona_lineage_id,
           content, audience, '{}', false, '{}', tags, origin,
           manually_written, subject_account_id, subject_user_id, source_platform, source_channel_id,
           source_message_id, source_turn_id, source_tool, author_account_id, last_reinforced_at, created_at,
           updated_at, version
      FROM personal_memories
     WHERE (user_id = $2 OR personal_memory_id = $3) AND ($4::bigint IS NULL OR persona_lineage_id IN (0, $4))
)
SELECT f.*, s.platform || ':' || s.external_id AS server, c.name AS channel, a.display_name AS author
  FROM found f
  LEFT JOIN servers s ON s.server_id = f.server_id
  LEFT JOIN channels c ON c.platform = f.source_platform AND c.external_id = f.source_channel_id
  LEFT JOIN accounts a ON a.account_id = f.author_account_id
 ORDER BY f.memory_id;

-- name: user_of
-- The user of an account; null for one that owns no memories.
SELECT user_id FROM accounts WHERE account_id = $1;

-- name: stats
-- Counts by scope, of a server ($1; for personal memories: learned there) and a user ($2), or of all where null.
WITH found AS (
    SELECT 'server' AS scope, server_id AS owner, persona_lineage_id, manually_written, channel_scope_pending AS pending,
           last_reinforced_at, created_at
      FROM server_memories WHERE ($1::bigint IS NULL OR server_id = $1) AND ($2::bigint IS NULL OR subject_user_id = $2)
       AND ($3::bigint IS NULL OR persona_lineage_id = $3)
    UNION ALL
    SELECT 'personal', user_id, persona_lineage_id, manually_written, false, last_reinforced_at, created_at
      FROM personal_memories
     WHERE ($1::bigint IS NULL OR source_server_id = $1) AND ($2::bigint IS NULL OR user_id = $2)
       AND ($3::bigint IS NULL OR persona_lineage_id IN (0, $3))
)
SELECT k.scope, count(f.scope) AS memories, count(DISTINCT f.owner) AS owners,
       count(DISTINCT f.persona_lineage_id) AS lineages,
       count(*) FILTER (WHERE f.manually_written) AS protected, count(*) FILTER (WHERE f.pending) AS pending,
       count(*) FILTER (WHERE memory_is_dormant(f.last_reinforced_at, f.created_at, $4, $5)) AS dormant,
       count(*) FILTER (WHERE f.persona_lineage_id = 0) AS global
  FROM (VALUES ('server'), ('personal')) AS k (scope) LEFT JOIN found f ON f.scope = k.scope
 GROUP BY k.scope ORDER BY k.scope DESC;
