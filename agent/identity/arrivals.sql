-- name: unlike
-- Of members as a bridge tells of them (as in see_members) those, by position, that are not known just so. $1 platform,
-- $2 server, $3 kinds that own memories, then by member: kinds, ids, shown names, global names, usernames.
SELECT m.position
FROM unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
     WITH ORDINALITY AS m (kind, external_id, shown, global_name, username, position)
LEFT JOIN servers s ON s.platform = $1 AND s.external_id = $2
LEFT JOIN accounts a ON a.platform = $1 AND a.external_id = m.external_id AND a.kind = m.kind
LEFT JOIN names g ON g.server_id = s.server_id AND g.account_id = a.account_id AND g.source = 'guild'
LEFT JOIN names l ON l.server_id = s.server_id AND l.account_id = a.account_id AND l.source = 'global'
LEFT JOIN names u ON u.server_id = s.server_id AND u.account_id = a.account_id AND u.source = 'username'
WHERE a.account_id IS NULL
   OR (a.display_name <> ''
       AND (g.value IS DISTINCT FROM m.shown OR l.value IS DISTINCT FROM m.global_name
            OR (m.username IS NOT NULL AND (u.value IS DISTINCT FROM m.username OR a.username IS DISTINCT FROM m.username))
            OR (a.user_id IS NULL AND m.kind = ANY ($3::text[]))))
ORDER BY m.position;

-- name: see
-- Registers members of a server with the names that they bear there (migrations/core/0011_directory.sql).
SELECT see_members($1, $2, $3, $4, $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11);

-- name: leave
-- Takes people out of a server, by kind ($3) and id ($4): their other names stay for a return.
DELETE FROM names n
USING servers s, accounts a
WHERE s.platform = $1 AND s.external_id = $2 AND a.platform = $1
  AND (a.kind, a.external_id) IN (SELECT * FROM unnest($3::text[], $4::text[]))
  AND n.server_id = s.server_id AND n.account_id = a.account_id AND n.source = 'guild';

-- name: leave_but
-- Takes everybody of the kinds $5 out of a server but those told, by kind ($3) and id ($4).
DELETE FROM names n
USING servers s, accounts a
WHERE s.platform = $1 AND s.external_id = $2 AND a.platform = $1 AND a.kind = ANY ($5::text[])
  AND NOT EXISTS (SELECT FROM unnest($3::text[], $4::text[]) AS k (kind, external_id)
                  WHERE k.kind = a.kind AND k.external_id = a.external_id)
  AND n.server_id = s.server_id AND n.account_id = a.account_id AND n.source = 'guild';

-- name: join_server
-- Registers a server that the agent is in; whatever was to be purged stays.
SELECT register_server($1, $2, $3, $4, $5);

-- name: leave_server
-- Notes that the agent is no longer in a server, and when its data goes; a second time changes nothing.
UPDATE servers SET purge_after = $3 WHERE platform = $1 AND external_id = $2 AND purge_after IS NULL;

-- name: change_channel
-- Gives a channel that is known its name, visibility and parent.
UPDATE channels SET name = $3, visibility = $4, parent_external_id = $5, parent_name = $6
WHERE platform = $1 AND external_id = $2
  AND (name, visibility, parent_external_id, parent_name) IS DISTINCT FROM ($3, $4, $5, $6);

-- name: change_parent
-- Gives the threads of a channel its new name.
UPDATE channels SET parent_name = $3
WHERE platform = $1 AND parent_external_id = $2 AND parent_name IS DISTINCT FROM $3;

-- name: remove_channel
-- Removes a channel and its threads, with the rows of their messages; memories name channels by the platform's id.
DELETE FROM channels WHERE platform = $1 AND (external_id = $2 OR parent_external_id = $2);

-- name: purge
-- Removes servers whose time is over, with everything of theirs.
DELETE FROM servers WHERE purge_after <= $1 RETURNING server_id;

-- name: forget_changes
-- Removes what was noted of the directories of servers that are gone.
DELETE FROM directory_changes WHERE server_id = ANY ($1::bigint[]);

-- name: forget_revisions
-- Removes the revisions of servers that are gone; their ids are never given again.
DELETE FROM owner_revisions WHERE owner = ANY ($1::text[]);
