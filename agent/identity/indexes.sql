-- name: all_names
-- Every member of a server with the names borne there, a row a name, and the revision for which that is true;
-- one row without a name where nobody is a member.
SELECT r.revision, n.account_id, n.value, n.normalised
FROM (SELECT coalesce((SELECT revision FROM owner_revisions WHERE owner = 'people:' || $1::bigint), 0) AS revision) r
LEFT JOIN (names g JOIN names n ON n.server_id = g.server_id AND n.account_id = g.account_id)
       ON g.server_id = $1 AND g.source = 'guild'
ORDER BY n.account_id;

-- name: changed_names
-- Whose names in a server have changed since a revision ($2), a row a name; of those who left, one row without a name.
SELECT r.revision, c.account_id, n.value, n.normalised
FROM (SELECT coalesce((SELECT revision FROM owner_revisions WHERE owner = 'people:' || $1::bigint), 0) AS revision) r
LEFT JOIN directory_changes c ON c.server_id = $1 AND c.revision > $2
LEFT JOIN names n ON n.server_id = c.server_id AND n.account_id = c.account_id
      AND EXISTS (SELECT FROM names g
                  WHERE g.server_id = c.server_id AND g.account_id = c.account_id AND g.source = 'guild')
ORDER BY c.account_id;
