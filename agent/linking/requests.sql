-- name: one_at_a_time
-- Tries are counted one after the other, so that no number of them at once gets past a limit.
SELECT pg_advisory_xact_lock(7305530113210454);

-- name: sweep_requests
-- Lets go of what is over.
DELETE FROM link_requests WHERE expires_at <= $1;

-- name: sweep_tries
-- Lets go of tries that do not count any more.
DELETE FROM link_tries WHERE tried_at <= $1;

-- name: count_open
-- How many requests are open.
SELECT count(*) FROM link_requests;

-- name: count_own
-- How often an account has tried something since a moment.
SELECT count(*) FROM link_tries WHERE account_id = $1 AND kind = $2 AND tried_at > $3;

-- name: count_wrong
-- How many wrong codes anybody has entered since a moment.
SELECT count(*) FROM link_tries WHERE kind = 'wrong' AND tried_at > $1;

-- name: note_try
-- Counts a try.
INSERT INTO link_tries (account_id, kind, tried_at) VALUES ($1, $2, $3);

-- name: ask
-- Keeps a request; an earlier one of the account is void.
INSERT INTO link_requests (account_id, code_digest, expires_at) VALUES ($1, $2, $3)
ON CONFLICT (account_id) DO UPDATE
SET code_digest = excluded.code_digest, other_account_id = NULL, is_shown = false, expires_at = excluded.expires_at;

-- name: codes
-- Every code that is open.
SELECT account_id, code_digest FROM link_requests WHERE code_digest IS NOT NULL AND expires_at > $1;

-- name: enter
-- Another account has entered the code, which is used up thereby.
UPDATE link_requests SET code_digest = NULL, other_account_id = $2, is_shown = false, expires_at = $3
WHERE account_id = $1;

-- name: waiting
-- The account that has entered somebody's code, and whether they were told who it is.
SELECT other_account_id, is_shown FROM link_requests
WHERE account_id = $1 AND other_account_id IS NOT NULL AND expires_at > $2;

-- name: show
-- Somebody is told who asks.
UPDATE link_requests SET is_shown = true WHERE account_id = $1 AND other_account_id = $2;

-- name: remove
-- The request is answered, or taken back; a row when there was one.
DELETE FROM link_requests WHERE account_id = $1 RETURNING account_id;

-- name: accounts
-- An account with those that are linked to it.
SELECT account_id, user_id, platform, kind, external_id, username, privacy_level, forgotten_before, display_name
FROM accounts
WHERE account_id = $1 OR user_id = (SELECT a.user_id FROM accounts a WHERE a.account_id = $1)
ORDER BY account_id;
