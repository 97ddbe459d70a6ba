-- name: servers_waiting
-- The servers that have memories whose channel scope is not settled.
SELECT DISTINCT server_id FROM server_memories WHERE channel_scope_pending ORDER BY server_id;

-- name: is_waiting
-- Whether a server has a memory whose channel scope is not settled.
SELECT EXISTS (SELECT FROM server_memories WHERE server_id = $1 AND channel_scope_pending);

-- name: known_channels
-- The channels and threads of a server, and the channels that are known only because a thread hangs below them.
SELECT external_id, name FROM channels WHERE server_id = $1
UNION
SELECT t.parent_external_id, t.parent_name FROM channels t
 WHERE t.server_id = $1 AND t.parent_external_id IS NOT NULL AND t.parent_name IS NOT NULL
   AND NOT EXISTS (SELECT FROM channels c WHERE c.platform = t.platform AND c.external_id = t.parent_external_id);

-- name: waiting
-- Memories of a server whose channel scope is not settled, by id, from one id on; of one lineage, or of all.
SELECT server_memory_id AS memory_id, persona_lineage_id, content, legacy_channel_scope_tags AS tags
  FROM server_memories
 WHERE server_id = $1 AND channel_scope_pending AND server_memory_id > $2
   AND ($3::bigint IS NULL OR persona_lineage_id = $3)
 ORDER BY server_memory_id
 LIMIT $4;

-- name: settle
-- Under the server's lock: gives memories their channels, and notes it; a row for each that was still waiting.
WITH given AS (
    SELECT memory_id, ARRAY(SELECT jsonb_array_elements_text(channel_ids)) AS channel_ids
      FROM jsonb_to_recordset($2::jsonb) AS x (memory_id bigint, channel_ids jsonb)
), settled AS (
    UPDATE server_memories m
       SET channel_disc_ids = given.channel_ids, channel_scope_pending = false, legacy_channel_scope_tags = '{}',
           manually_written = m.manually_written OR $3, updated_at = $4
      FROM given
     WHERE m.server_memory_id = given.memory_id AND m.server_id = $1 AND m.channel_scope_pending
    RETURNING m.server_memory_id, m.server_id, m.persona_lineage_id
), noted AS (
    INSERT INTO memory_events (memory_id, scope, owner_id, persona_lineage_id, kind, actor_account_id,
                               source_turn_id, source_tool, happened_at)
    SELECT server_memory_id, 'server', server_id, persona_lineage_id, 'updated', $5, $6, $7, $4 FROM settled
)
SELECT server_memory_id AS memory_id FROM settled ORDER BY server_memory_id;
