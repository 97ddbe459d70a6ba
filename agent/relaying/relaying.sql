-- name: authors
-- Who said what stands on a platform for people from elsewhere, as its server names them; nobody where that was
-- forgotten.
SELECT r.message_id, r.webhook_id, a.kind, a.external_id, a.platform, a.username,
       coalesce(n.value, a.display_name) AS display_name
FROM relay_messages r
LEFT JOIN accounts a ON a.account_id = r.account_id
LEFT JOIN servers s ON s.platform = $1 AND s.external_id = $3
LEFT JOIN names n ON n.server_id = s.server_id AND n.account_id = a.account_id AND n.source = 'guild'
WHERE r.side = 'matrix' AND r.message_id = ANY ($2::text[]);

-- name: trusted
-- The webhooks of other bridges that administrators have named.
SELECT platform, webhook_id FROM trusted_webhooks WHERE platform = ANY ($1::text[]);

-- name: trusted_in
-- Those that a server has named.
SELECT webhook_id FROM trusted_webhooks WHERE platform = $1 AND server = $2 ORDER BY webhook_id;

-- name: trust
-- Names a webhook of another bridge; a row when that is new.
INSERT INTO trusted_webhooks (platform, webhook_id, server, created_at) VALUES ($1, $2, $3, $4)
ON CONFLICT DO NOTHING RETURNING webhook_id;

-- name: distrust
-- Drops a webhook that a server has named.
DELETE FROM trusted_webhooks WHERE platform = $1 AND webhook_id = $2 AND server = $3 RETURNING webhook_id;
