-- name: find_server
-- One server memory by its id, of one server and whichever lineage.
SELECT server_memory_id AS memory_id, true AS is_server, server_id AS owner_id, persona_lineage_id, content, audience,
       channel_disc_ids, channel_scope_pending, subject_account_id, subject_user_id, source_platform,
       source_server_id, source_channel_id, manually_written, last_reinforced_at, created_at, version
  FROM server_memories WHERE server_memory_id = $1 AND server_id = $2;

-- name: find_personal
-- One personal memory by its id, of one user and whichever lineage.
SELECT personal_memory_id AS memory_id, false AS is_server, user_id AS owner_id, persona_lineage_id, content, audience,
       '{}'::text[] AS channel_disc_ids, false AS channel_scope_pending, subject_account_id, subject_user_id,
       source_platform, source_server_id, source_channel_id, manually_written, last_reinforced_at, created_at, version
  FROM personal_memories WHERE personal_memory_id = $1 AND user_id = $2;

-- name: is_author
-- Whether an account, or one that is linked to it, has a server memory on its conscience.
SELECT EXISTS (SELECT FROM server_memories m JOIN accounts a ON a.account_id = m.author_account_id
                WHERE m.server_memory_id = $1 AND (a.account_id = $2 OR a.user_id = $3));

-- name: provenance
-- Where a memory comes from: who, where, when, which message, which tool.
WITH found AS (
    SELECT server_memory_id AS memory_id, origin, tags, legacy_channel_scope_tags AS names, source_platform,
           source_server_id, source_channel_id, source_message_id, source_turn_id, source_tool, author_account_id,
           created_at, updated_at
      FROM server_memories WHERE server_memory_id = $1
    UNION ALL
    SELECT personal_memory_id, origin, tags, '{}', source_platform, source_server_id, source_channel_id,
           source_message_id, source_turn_id, source_tool, author_account_id, created_at, updated_at
      FROM personal_memories WHERE personal_memory_id = $1
)
SELECT f.*, s.name AS server, c.name AS channel, a.display_name AS author,
       coalesce((SELECT bool_or(x.privacy_level = 'full') FROM accounts x
                  WHERE x.account_id = a.account_id OR x.user_id = a.user_id), false) AS author_hides
  FROM found f
  LEFT JOIN servers s ON s.server_id = f.source_server_id
  LEFT JOIN channels c ON c.platform = f.source_platform AND c.external_id = f.source_channel_id
  LEFT JOIN accounts a ON a.account_id = f.author_account_id;

-- name: channels
-- The channels and threads of a server that the agent has seen.
SELECT external_id, name FROM channels WHERE server_id = $1 ORDER BY external_id;

-- name: count_server
-- How many memories a server has in a lineage; asked under the owner's lock, in a statement of its own.
SELECT count(*) FROM server_memories WHERE server_id = $1 AND persona_lineage_id = $2;

-- name: count_personal
-- How many places of a user are taken in a lineage, the global ones counted in; for lineage 0 in the fullest of them.
SELECT coalesce(sum(n) FILTER (WHERE lineage = 0), 0) + coalesce(max(n) FILTER (WHERE lineage <> 0), 0)
  FROM (SELECT m.persona_lineage_id AS lineage, count(*) AS n FROM personal_memories m
         WHERE m.user_id = $1 AND ($2 = 0 OR m.persona_lineage_id IN (0, $2)) GROUP BY 1) AS lineages;

-- name: amend_server
-- Under the lock: gives a version of a memory other channels, tags, audience or lineage, by hand; null leaves one as it is.
WITH changed AS (
    UPDATE server_memories
       SET channel_disc_ids = coalesce($2::text[], channel_disc_ids),
           channel_scope_pending = channel_scope_pending AND $2::text[] IS NULL,
           legacy_channel_scope_tags =
               CASE WHEN $2::text[] IS NULL THEN legacy_channel_scope_tags ELSE '{}'::text[] END,
           tags = coalesce($3::text[], tags), audience = coalesce($4, audience),
           persona_lineage_id = coalesce($5::bigint, persona_lineage_id),
           manually_written = true, updated_at = $6, version = version + 1
     WHERE server_memory_id = $1 AND version = $7
    RETURNING server_memory_id, server_id, persona_lineage_id, version
), noted AS (
    INSERT INTO memory_events (memory_id, scope, owner_id, persona_lineage_id, kind, actor_account_id,
                               source_turn_id, source_tool, happened_at)
    SELECT server_memory_id, 'server', server_id, persona_lineage_id, 'updated', $8, NULL, $9, $6 FROM changed
)
SELECT version, raise_revision('server:' || server_id) FROM changed;

-- name: amend_personal
-- Under the lock: gives a version of a memory other tags or another audience, by hand; null leaves one as it is.
WITH changed AS (
    UPDATE personal_memories
       SET tags = coalesce($2::text[], tags), audience = coalesce($3, audience),
           manually_written = true, updated_at = $4, version = version + 1
     WHERE personal_memory_id = $1 AND version = $5
    RETURNING personal_memory_id, user_id, persona_lineage_id, version
), noted AS (
    INSERT INTO memory_events (memory_id, scope, owner_id, persona_lineage_id, kind, actor_account_id,
                               source_turn_id, source_tool, happened_at)
    SELECT personal_memory_id, 'personal', user_id, persona_lineage_id, 'updated', $6, NULL, $7, $4 FROM changed
)
SELECT version, raise_revision('user:' || user_id) FROM changed;

-- name: same_server
-- Under the lock: the memory that would say the same as this one once it had these channels, audience or lineage.
SELECT min(d.server_memory_id)
  FROM server_memories m
  JOIN server_memories d ON d.server_id = m.server_id AND d.content_key = m.content_key
 WHERE m.server_memory_id = $1 AND d.server_memory_id <> m.server_memory_id
   AND d.persona_lineage_id = coalesce($4::bigint, m.persona_lineage_id)
   AND d.audience = coalesce($3, m.audience)
   AND (d.audience <> 'channel' OR (d.source_platform = m.source_platform
        AND d.source_channel_id IS NOT DISTINCT FROM m.source_channel_id))
   AND d.channel_disc_ids @> coalesce($2::text[], m.channel_disc_ids)
   AND d.channel_disc_ids <@ coalesce($2::text[], m.channel_disc_ids)
   AND d.channel_scope_pending = (m.channel_scope_pending AND $2::text[] IS NULL)
   AND d.legacy_channel_scope_tags =
       CASE WHEN $2::text[] IS NULL THEN m.legacy_channel_scope_tags ELSE '{}'::text[] END
   AND d.subject_user_id IS NOT DISTINCT FROM m.subject_user_id
   AND (d.subject_user_id IS NOT NULL OR d.subject_account_id IS NOT DISTINCT FROM m.subject_account_id);

-- name: same_personal
-- Under the lock: the memory that would say the same as this one once it had this audience.
SELECT min(d.personal_memory_id)
  FROM personal_memories m
  JOIN personal_memories d ON d.user_id = m.user_id AND d.content_key = m.content_key
 WHERE m.personal_memory_id = $1 AND d.personal_memory_id <> m.personal_memory_id
   AND d.persona_lineage_id = m.persona_lineage_id
   AND d.audience = coalesce($2, m.audience)
   AND (d.audience <> 'channel' OR (d.source_platform = m.source_platform
        AND d.source_channel_id IS NOT DISTINCT FROM m.source_channel_id))
   AND (d.audience <> 'server' OR d.source_server_id IS NOT DISTINCT FROM m.source_server_id);

-- name: stand_for_server
-- Under the lock: lets a memory count as fresh and written by hand, with the tags of another that says the same.
WITH standing AS (
    UPDATE server_memories m
       SET last_reinforced_at = greatest(m.last_reinforced_at, o.last_reinforced_at, $3::timestamptz),
           manually_written = true,
           tags = m.tags || ARRAY(SELECT t FROM unnest(o.tags) AS t WHERE t <> ALL (m.tags))
      FROM server_memories o
     WHERE m.server_memory_id = $1 AND o.server_memory_id = $2
    RETURNING m.server_memory_id, m.server_id, m.persona_lineage_id
)
INSERT INTO memory_events (memory_id, scope, owner_id, persona_lineage_id, kind, actor_account_id,
                           source_turn_id, source_tool, happened_at)
SELECT server_memory_id, 'server', server_id, persona_lineage_id, 'reinforced', $4, NULL, $5, $3 FROM standing;

-- name: stand_for_personal
-- Under the lock: lets a memory count as fresh and written by hand, with the tags of another that says the same.
WITH standing AS (
    UPDATE personal_memories m
       SET last_reinforced_at = greatest(m.last_reinforced_at, o.last_reinforced_at, $3::timestamptz),
           manually_written = true,
           tags = m.tags || ARRAY(SELECT t FROM unnest(o.tags) AS t WHERE t <> ALL (m.tags))
      FROM personal_memories o
     WHERE m.personal_memory_id = $1 AND o.personal_memory_id = $2
    RETURNING m.personal_memory_id, m.user_id, m.persona_lineage_id
)
INSERT INTO memory_events (memory_id, scope, owner_id, persona_lineage_id, kind, actor_account_id,
                           source_turn_id, source_tool, happened_at)
SELECT personal_memory_id, 'personal', user_id, persona_lineage_id, 'reinforced', $4, NULL, $5, $3 FROM standing;

-- name: learned_from
-- The memories that came of a message; of one that the agent has sent, those that came of what it answered.
WITH meant AS (
    SELECT $2::text AS message_id
    UNION
    SELECT answered.message_id FROM messages own
      JOIN messages answered ON answered.platform = own.platform AND answered.event_id = own.event_id
     WHERE own.platform = $1 AND own.message_id = $2 AND own.account_id IS NULL AND own.user_id IS NULL
    UNION
    SELECT own.event_id FROM messages own
     WHERE own.platform = $1 AND own.message_id = $2 AND own.account_id IS NULL AND own.user_id IS NULL
       AND own.event_id IS NOT NULL
)
SELECT server_memory_id FROM server_memories
 WHERE source_platform = $1 AND source_message_id IN (SELECT message_id FROM meant)
UNION ALL
SELECT personal_memory_id FROM personal_memories
 WHERE source_platform = $1 AND source_message_id IN (SELECT message_id FROM meant);
