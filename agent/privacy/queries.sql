-- name: facts_of_people
-- What privacy and blacklist say now about accounts, users' accounts, and whoever is linked to them.
SELECT account_id, user_id, privacy_level, forgotten_before, blacklisted, personal_off
FROM facts_of_people($1::bigint[], $2::bigint[], $3);

-- name: facts_for_write
-- Locks what a write rests on, in the order of every write, and then reads the same.
SELECT account_id, user_id, privacy_level, forgotten_before, blacklisted, personal_off
FROM facts_for_write($1::bigint[], $2::bigint[], $3, $4);

-- name: lock_person
-- Locks an account, those linked to it, and their user, in the order of every write; gives the accounts.
SELECT account_id, user_id, privacy_level FROM lock_person($1);

-- name: lock_server
-- Locks a server after its people.
SELECT server_id FROM servers WHERE server_id = $1 FOR NO KEY UPDATE;

-- name: set_level
-- Sets the level of a person's accounts.
UPDATE accounts SET privacy_level = $2 WHERE account_id = ANY ($1::bigint[]) AND privacy_level <> $2;

-- name: level
-- The level of an account.
SELECT privacy_level FROM accounts WHERE account_id = $1;

-- name: blacklist_add
-- Puts an account on the blacklist of a server; a row when it was not there.
INSERT INTO server_blacklist (server_id, account_id, created_at) VALUES ($1, $2, $3)
ON CONFLICT DO NOTHING
RETURNING account_id;

-- name: blacklist_remove
-- Takes accounts off the blacklist of a server; a row for each that was there.
DELETE FROM server_blacklist WHERE server_id = $1 AND account_id = ANY ($2::bigint[]) RETURNING account_id;

-- name: blacklist
-- Who is on the blacklist of a server, as the server shows them.
SELECT a.account_id, a.user_id, a.platform, a.kind, a.external_id, a.username, a.privacy_level, a.forgotten_before,
       coalesce(n.value, a.display_name) AS display_name
FROM server_blacklist b
JOIN accounts a ON a.account_id = b.account_id
LEFT JOIN names n ON n.server_id = b.server_id AND n.account_id = b.account_id AND n.source = 'guild'
WHERE b.server_id = $1
ORDER BY b.created_at, a.account_id;

-- name: personal_memories_off
-- Whether a server wants no personal memories.
SELECT personal_memories_off($1);

-- name: hidden_names
-- The names of those who hide, borne in a server or in a server where one of some accounts is known; newest first.
SELECT n.normalised, bool_or(n.server_id = $1) AS is_here
FROM accounts a
JOIN names n ON n.account_id = a.account_id
WHERE a.privacy_level = 'full'
  AND n.server_id = ANY (ARRAY(
      SELECT $1 UNION SELECT k.server_id FROM names k WHERE k.account_id = ANY ($2::bigint[])
  ))
GROUP BY n.normalised
ORDER BY max(n.seen_at) DESC
LIMIT $3;
