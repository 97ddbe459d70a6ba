-- name: enter
-- Registers where and by whom something was said, and tells what counts for it now (migrations/core/0015_relay.sql).
SELECT * FROM enter_place($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
                          $18);

-- name: participants
-- The accounts of some keys as a server shows them, in the order of the keys.
SELECT DISTINCT ON (k.position)
       a.account_id, a.user_id, a.platform, a.kind, a.external_id, a.username, a.privacy_level, a.forgotten_before,
       coalesce(n.value, a.display_name) AS display_name,
       EXISTS (SELECT FROM server_blacklist b JOIN accounts x ON x.account_id = b.account_id
               WHERE b.server_id = $1 AND (x.account_id = a.account_id OR x.user_id = a.user_id)) AS blacklisted
FROM unnest($3::text[], $4::text[]) WITH ORDINALITY AS k (kind, external_id, position)
JOIN accounts a ON a.external_id = k.external_id AND a.kind = k.kind
LEFT JOIN names n ON n.server_id = $1 AND n.account_id = a.account_id AND n.source = 'guild'
ORDER BY k.position, a.platform <> $2, a.account_id;

-- name: find
-- The accounts with a platform's id; more than one only where two kinds share the digits.
SELECT a.account_id, a.user_id, a.platform, a.kind, a.external_id, a.username, a.privacy_level, a.forgotten_before,
       a.display_name
FROM accounts a
WHERE a.platform = $1 AND a.external_id = $2
ORDER BY a.account_id;

-- name: members
-- Every member of a server, with every name borne there: a row a name. Who left has no name of the source guild.
SELECT a.account_id, a.user_id, a.platform, a.kind, a.external_id, a.username, a.privacy_level, a.forgotten_before,
       g.value AS display_name, n.source, n.value, n.normalised
FROM names n
JOIN accounts a ON a.account_id = n.account_id
JOIN names g ON g.server_id = n.server_id AND g.account_id = n.account_id AND g.source = 'guild'
WHERE n.server_id = $1
ORDER BY a.account_id, n.source;

-- name: bearers
-- Members of a server who bear a name or have a platform's id, with every name borne there: a row a name.
-- Of very many the hidden ones come first, because they make a name ambiguous and are not listed.
WITH found AS (
    SELECT n.account_id FROM names n WHERE n.server_id = $1 AND n.normalised = $2
    UNION
    SELECT a.account_id FROM accounts a WHERE a.external_id = $3
), few AS (
    SELECT a.account_id FROM found JOIN accounts a USING (account_id)
    WHERE EXISTS (SELECT FROM names g
                  WHERE g.server_id = $1 AND g.account_id = a.account_id AND g.source = 'guild')
    ORDER BY a.privacy_level <> 'full', a.account_id LIMIT $4
)
SELECT a.account_id, a.user_id, a.platform, a.kind, a.external_id, a.username, a.privacy_level, a.forgotten_before,
       g.value AS display_name, n.source, n.value, n.normalised
FROM few
JOIN names n ON n.server_id = $1 AND n.account_id = few.account_id
JOIN accounts a ON a.account_id = few.account_id
JOIN names g ON g.server_id = $1 AND g.account_id = a.account_id AND g.source = 'guild'
ORDER BY a.account_id, n.source;

-- name: names_of
-- Some members of a server with every name borne there: a row a name. Of very many the hidden ones come first.
WITH few AS (
    SELECT a.account_id, g.value FROM names g JOIN accounts a ON a.account_id = g.account_id
    WHERE g.server_id = $1 AND g.account_id = ANY ($2::bigint[]) AND g.source = 'guild'
    ORDER BY a.privacy_level <> 'full', a.account_id LIMIT $3
)
SELECT a.account_id, a.user_id, a.platform, a.kind, a.external_id, a.username, a.privacy_level, a.forgotten_before,
       few.value AS display_name, n.source, n.value, n.normalised
FROM few
JOIN names n ON n.server_id = $1 AND n.account_id = few.account_id
JOIN accounts a ON a.account_id = few.account_id
ORDER BY a.account_id, n.source;

-- name: showable
-- Those of some members who may be suggested, with every name borne there: a row a name.
SELECT a.account_id, a.user_id, a.platform, a.kind, a.external_id, a.username, a.privacy_level, a.forgotten_before,
       g.value AS display_name, n.source, n.value, n.normalised
FROM names g
JOIN accounts a ON a.account_id = g.account_id AND a.privacy_level <> 'full'
JOIN names n ON n.server_id = g.server_id AND n.account_id = g.account_id
WHERE g.server_id = $1 AND g.account_id = ANY ($2::bigint[]) AND g.source = 'guild'
ORDER BY a.account_id, n.source;

-- name: beginning
-- Members with a name that begins with some letters, who may be shown; the shortest names first.
SELECT a.account_id, a.user_id, a.platform, a.kind, a.external_id, a.username, a.privacy_level, a.forgotten_before,
       g.value AS display_name
FROM names n
JOIN accounts a ON a.account_id = n.account_id AND a.privacy_level <> 'full'
JOIN names g ON g.server_id = n.server_id AND g.account_id = n.account_id AND g.source = 'guild'
WHERE n.server_id = $1 AND starts_with(n.normalised, $2)
GROUP BY a.account_id, g.value
ORDER BY min(length(n.normalised)), a.account_id
LIMIT $3;

-- name: known_names
-- Of some normalised names those with exactly one owner in a server, whose memories may be shown there.
WITH owners AS (
    SELECT DISTINCT n.normalised, n.account_id, coalesce(a.user_id, -a.account_id) AS person
    FROM names n
    JOIN accounts a ON a.account_id = n.account_id
    JOIN names g ON g.server_id = n.server_id AND g.account_id = n.account_id AND g.source = 'guild'
    WHERE n.server_id = $1 AND n.normalised = ANY ($2::text[])
), owned AS (
    SELECT min(account_id) AS account_id FROM owners GROUP BY normalised HAVING count(DISTINCT person) = 1
)
SELECT a.account_id, a.user_id, a.platform, a.kind, a.external_id, a.username, a.privacy_level, a.forgotten_before,
       coalesce(g.value, a.display_name) AS display_name
FROM accounts a
LEFT JOIN names g ON g.server_id = $1 AND g.account_id = a.account_id AND g.source = 'guild'
WHERE a.account_id IN (SELECT account_id FROM owned)
  AND a.privacy_level = 'none'
  AND NOT EXISTS (SELECT FROM server_blacklist b JOIN accounts x ON x.account_id = b.account_id
                  WHERE b.server_id = $1 AND (x.account_id = a.account_id OR x.user_id = a.user_id))
ORDER BY a.account_id
LIMIT $3;
