-- name: find_accounts
-- Accounts by platform and id, or, without a platform, by id, username or present name, whatever the case.
SELECT account_id, platform, external_id, kind, display_name, username, display_name AS label
FROM accounts
WHERE ($1::text IS NULL OR platform = $1)
  AND (external_id IN ($2, $3)
       OR ($1::text IS NULL AND (lower(display_name) = $3 OR lower(username) = $3)))
ORDER BY platform, external_id
LIMIT 20;

-- name: find_servers
-- Servers by platform and id, or, without a platform, by id or name, whatever the case.
SELECT platform, external_id, kind, name, name AS label
FROM servers
WHERE ($1::text IS NULL OR platform = $1)
  AND (external_id IN ($2, $3) OR ($1::text IS NULL AND lower(name) = $3))
ORDER BY platform, external_id
LIMIT 20;

-- name: find_channels
-- Channels of a server (platform $4, id $5) by id or name, whatever the case; all of them without a name.
SELECT channels.platform, channels.external_id, channels.name, visibility, parent_external_id, parent_name,
       channels.name AS label
FROM channels
JOIN servers USING (server_id)
WHERE servers.platform = $4 AND servers.external_id = $5
  AND ($1::text IS NULL OR channels.platform = $1)
  AND ($2::text IS NULL OR channels.external_id IN ($2, $3) OR lower(channels.name) = $3)
ORDER BY channels.external_id
LIMIT 20;

-- name: server_id
-- The row of a server by platform and id.
SELECT server_id FROM servers WHERE platform = $1 AND external_id = $2;
