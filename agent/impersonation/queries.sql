-- name: standing
-- An account as a server shows it, whether privacy or blacklist restrict its person, and what the person has chosen.
SELECT a.account_id, a.user_id, a.platform, a.kind, a.external_id, a.username, a.privacy_level, a.forgotten_before,
       coalesce(n.value, a.display_name) AS display_name,
       EXISTS (SELECT FROM facts_of_people(ARRAY[a.account_id], '{}', $2) f
               WHERE f.privacy_level <> 'none' OR f.blacklisted) AS restricted,
       ARRAY(SELECT s.value #>> '{}' FROM account_settings s JOIN accounts x ON x.account_id = s.account_id
             WHERE s.key = $3 AND (x.account_id = a.account_id OR x.user_id = a.user_id)) AS consents
FROM accounts a
LEFT JOIN names n ON n.server_id = $2 AND n.account_id = a.account_id AND n.source = 'guild'
WHERE a.account_id = $1;

-- name: arrange
-- Keeps that the next answer in a channel is in somebody's style; the last wish holds.
INSERT INTO impersonations (channel_id, server_id, account_id, asked_by, by_right, event_id, expires_at)
VALUES ($1, $2, $3, $4, $5, NULL, $6)
ON CONFLICT (channel_id) DO UPDATE
SET server_id = excluded.server_id, account_id = excluded.account_id, asked_by = excluded.asked_by,
    by_right = excluded.by_right, event_id = NULL, expires_at = excluded.expires_at;

-- name: cancel
-- Lets go of the wish for a channel that no answer has used yet.
DELETE FROM impersonations WHERE channel_id = $1 AND event_id IS NULL AND expires_at > $2 RETURNING channel_id;

-- name: sweep
-- Lets go of wishes that are long over.
DELETE FROM impersonations WHERE expires_at <= $1;

-- name: waiting
-- The channels of a server for which there is a wish, and how long it lasts.
SELECT channel_id, expires_at FROM impersonations WHERE server_id = $1 AND expires_at > $2;

-- name: claim
-- Gives the wish for a channel to the answer to one event, and to that alone, however often it is begun.
UPDATE impersonations SET event_id = $2
WHERE channel_id = $1 AND (event_id = $2 OR (event_id IS NULL AND expires_at > $3))
RETURNING account_id, by_right;
