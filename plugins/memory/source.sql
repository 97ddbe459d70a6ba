-- name: server_memories_of_message
-- Unprotected memories that the model made of one message, of its server, since a moment.
SELECT server_memory_id AS memory_id, true AS is_server, server_id AS owner_id, persona_lineage_id, content, audience,
       channel_disc_ids, channel_scope_pending, subject_account_id, subject_user_id, source_platform,
       source_server_id, source_channel_id, manually_written, last_reinforced_at, created_at, version
  FROM server_memories
 WHERE server_id = (SELECT server_id FROM servers WHERE platform = $1 AND external_id = $2)
   AND source_platform = $1 AND source_channel_id = $3 AND source_message_id = $4
   AND origin = 'model' AND NOT manually_written AND created_at > $5
 ORDER BY server_memory_id;

-- name: personal_memories_of_message
-- Unprotected memories about people that the model made of one message, since a moment.
SELECT personal_memory_id AS memory_id, false AS is_server, user_id AS owner_id, persona_lineage_id, content, audience,
       '{}'::text[] AS channel_disc_ids, false AS channel_scope_pending, subject_account_id, subject_user_id,
       source_platform, source_server_id, source_channel_id, manually_written, last_reinforced_at, created_at, version
  FROM personal_memories
 WHERE source_server_id = (SELECT server_id FROM servers WHERE platform = $1 AND external_id = $2)
   AND source_platform = $1 AND source_channel_id = $3 AND source_message_id = $4
   AND origin = 'model' AND NOT manually_written AND created_at > $5
 ORDER BY personal_memory_id;

-- name: is_protected
-- Whether somebody has written or changed a memory by hand, as its transaction sees it; no row when it is gone.
SELECT manually_written FROM server_memories WHERE server_memory_id = $1
UNION ALL
SELECT manually_written FROM personal_memories WHERE personal_memory_id = $1;

-- name: drop_copy
-- Removes the undo copy of a memory: what is gone with its message cannot be brought back.
DELETE FROM forgotten_memories WHERE memory_id = $1;
