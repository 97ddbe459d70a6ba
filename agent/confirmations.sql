-- name: ask
-- Keeps the question; an earlier one of the same kind is void.
INSERT INTO confirmations (account_id, action, code_digest, expires_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (account_id, action)
DO UPDATE SET code_digest = excluded.code_digest, attempts = 0, expires_at = excluded.expires_at;

-- name: read
-- The open question, locked, so that of two answers at once the second waits.
SELECT code_digest, attempts, expires_at FROM confirmations WHERE account_id = $1 AND action = $2 FOR UPDATE;

-- name: count_attempt
-- Counts a wrong code.
UPDATE confirmations SET attempts = attempts + 1 WHERE account_id = $1 AND action = $2;

-- name: remove
-- The question is answered, or void.
DELETE FROM confirmations WHERE account_id = $1 AND action = $2;
