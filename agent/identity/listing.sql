-- name: count
-- How many people have a name in a server, those who left included.
SELECT count(DISTINCT account_id) FROM names WHERE server_id = $1;

-- name: page
-- Some people of a server by account, those who left included, with every name kept for it: a row a name.
WITH few AS (
    SELECT DISTINCT account_id FROM names WHERE server_id = $1 ORDER BY account_id LIMIT $2 OFFSET $3
)
SELECT a.account_id, a.user_id, a.platform, a.kind, a.external_id, a.username, a.privacy_level, a.forgotten_before,
       coalesce(g.value, a.display_name) AS display_name, n.source, n.value, n.normalised,
       g.value IS NOT NULL AS is_member,
       EXISTS (SELECT FROM server_blacklist b JOIN accounts x ON x.account_id = b.account_id
               WHERE b.server_id = $1 AND (x.account_id = a.account_id OR x.user_id = a.user_id)) AS blacklisted
FROM few
JOIN names n ON n.server_id = $1 AND n.account_id = few.account_id
JOIN accounts a ON a.account_id = few.account_id
LEFT JOIN names g ON g.server_id = $1 AND g.account_id = few.account_id AND g.source = 'guild'
ORDER BY a.account_id, n.source;
