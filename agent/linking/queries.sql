-- name: one_at_a_time
-- As an erasure, which takes the same lock: two of them never wait for each other's rows in different orders.
SELECT pg_advisory_xact_lock(7305530113210452);

-- name: lock_people
-- Locks all accounts of two people and their users, in the order of every write.
SELECT account_id FROM lock_people($1::bigint[]);

-- name: new_user
-- A user row for accounts.
INSERT INTO users (kind, created_at) VALUES ('account', $1) RETURNING user_id;

-- name: join
-- Accounts share a user row from now on, and the stricter level.
UPDATE accounts SET user_id = $2, privacy_level = $3, linked_at = coalesce(linked_at, $4)
WHERE account_id = ANY ($1::bigint[]);

-- name: leave
-- Accounts go to another user row, or to none; what was linked to them is not any more.
UPDATE accounts SET user_id = $2, linked_at = NULL WHERE account_id = ANY ($1::bigint[]);

-- name: alone
-- Accounts that share their user row with nobody any more.
UPDATE accounts SET linked_at = NULL WHERE account_id = ANY ($1::bigint[]);

-- name: drop_requests_between
-- Requests of accounts that are linked by now.
DELETE FROM link_requests WHERE account_id = ANY ($1::bigint[]) AND other_account_id = ANY ($1::bigint[]);

-- name: drop_requests
-- Every request of or with some accounts.
DELETE FROM link_requests WHERE account_id = ANY ($1::bigint[]) OR other_account_id = ANY ($1::bigint[]);

-- name: share_blacklists
-- What held for the person holds for each of the accounts when they part.
INSERT INTO server_blacklist (server_id, account_id, created_at)
SELECT b.server_id, a, min(b.created_at)
FROM server_blacklist b, unnest($1::bigint[]) a
WHERE b.account_id = ANY ($1::bigint[])
GROUP BY b.server_id, a
ORDER BY b.server_id, a
ON CONFLICT DO NOTHING;

-- name: fix_trail
-- Acts on what a user held stay with the account that held it, whatever becomes of the user row.
UPDATE audit_trail SET subject_account_id = coalesce(subject_account_id, $2), subject_user_id = NULL
WHERE subject_user_id = $1;

-- name: move_notices
-- Notices about a user are about another one, so that they are found when that one is forgotten.
UPDATE outbox SET about_users = array_replace(about_users, $1::bigint, $2::bigint)
WHERE about_memories IS NOT NULL AND about_users @> ARRAY[$1::bigint];

-- name: keep_move
-- Notes what has to go from one user row to another, and which plugins have done their part.
INSERT INTO user_moves (from_user_id, to_user_id, going, staying, is_whole, moved_at, plugins)
VALUES ($1, $2, $3::bigint[], $4::bigint[], $5, $6, $7::text[]);

-- name: unfinished
-- Moves in which one of some plugins had no part yet, because it was switched off, in their order.
SELECT move_id, from_user_id, to_user_id, going, staying, is_whole, plugins FROM user_moves
WHERE NOT plugins @> $1::text[] AND ($2::bigint IS NULL OR move_id = $2)
ORDER BY move_id;

-- name: finish_move
-- Plugins that came back have done their part.
UPDATE user_moves SET plugins = $2::text[] WHERE move_id = $1;

-- name: accounts
-- Accounts, as they were known last.
SELECT account_id, user_id, platform, kind, external_id, username, privacy_level, forgotten_before, display_name
FROM accounts
WHERE account_id = ANY ($1::bigint[])
ORDER BY account_id;

-- name: servers
-- The servers that know a name of the accounts.
SELECT DISTINCT server_id FROM names WHERE account_id = ANY ($1::bigint[]) ORDER BY server_id;

-- name: links
-- Every account that shares a user row with others, person by person.
SELECT account_id, user_id, platform, kind, external_id, username, privacy_level, forgotten_before, display_name,
       linked_at
FROM accounts
WHERE linked_at IS NOT NULL AND user_id IS NOT NULL
ORDER BY user_id, account_id;
