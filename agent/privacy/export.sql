-- name: accounts
-- What the core holds of an account, and of those that are linked to it.
SELECT account_id, user_id, platform, kind, external_id, username, privacy_level, forgotten_before, display_name,
       disclosed_at, created_at, last_seen_at, linked_at
FROM accounts
WHERE account_id = $1 OR user_id = (SELECT a.user_id FROM accounts a WHERE a.account_id = $1)
ORDER BY account_id;

-- name: names
-- Every name of an account, with the server that shows it.
SELECT s.platform, s.external_id AS server, n.source, n.value, n.seen_at
FROM names n
JOIN servers s ON s.server_id = n.server_id
WHERE n.account_id = $1
ORDER BY s.server_id, n.source;

-- name: settings
-- What an account has set.
SELECT key, value::text AS value FROM account_settings WHERE account_id = $1 ORDER BY key;

-- name: blacklists
-- The servers that have the account on their blacklist.
SELECT s.platform, s.external_id AS server, b.created_at
FROM server_blacklist b
JOIN servers s ON s.server_id = b.server_id
WHERE b.account_id = $1
ORDER BY s.server_id;

-- name: messages
-- The messages whose author is known to be the account; their text is not kept.
SELECT m.platform, m.message_id, c.external_id AS channel, m.created_at
FROM messages m
JOIN channels c ON c.channel_id = m.channel_id
WHERE m.account_id = $1
ORDER BY m.created_at, m.message_id;

-- name: notices
-- The notices about the account or its user that stand on a platform; their text is not kept.
SELECT o.platform, o.channel, o.message_id, o.created_at
FROM outbox o
WHERE o.about_memories IS NOT NULL AND o.state = 'sent'
  AND (o.about_accounts && ARRAY[$1::bigint]
       OR o.about_users && ARRAY(SELECT a.user_id FROM accounts a WHERE a.account_id = $1 AND a.user_id IS NOT NULL))
ORDER BY o.outbox_id;

-- name: erasures
-- The receipts of what was deleted.
SELECT erased_at, counts, plugins FROM erasures WHERE account_id = $1 ORDER BY erasure_id;

-- name: looked_at
-- Who looked at or changed what is about the account or its user; whoever hides is not named.
SELECT t.happened_at, t.act, t.via, t.items, t.by_operator, s.name AS server,
       CASE WHEN a.privacy_level = 'full' THEN NULL ELSE a.display_name END AS actor
FROM audit_trail t
LEFT JOIN servers s ON s.server_id = t.server_id
LEFT JOIN accounts a ON a.account_id = t.actor_account_id
WHERE t.subject_account_id = $1 OR t.subject_user_id = (SELECT x.user_id FROM accounts x WHERE x.account_id = $1)
ORDER BY t.audit_id;
