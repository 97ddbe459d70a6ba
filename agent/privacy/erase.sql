-- name: one_at_a_time
-- Two erasures never wait for each other's rows in different orders; released at the end of the transaction.
SELECT pg_advisory_xact_lock(7305530113210452);

-- name: accounts
-- The accounts of a person, as they were known last.
SELECT account_id, user_id, platform, kind, external_id, username, privacy_level, forgotten_before, display_name
FROM accounts
WHERE account_id = ANY ($1::bigint[])
ORDER BY account_id;

-- name: servers
-- The servers that know a name of the person.
SELECT DISTINCT server_id FROM names WHERE account_id = ANY ($1::bigint[]) ORDER BY server_id;

-- name: forget_account
-- Empties what is known of a person; level, blacklist and the moment stay, because they protect.
UPDATE accounts
SET display_name = '', username = NULL, disclosed_at = NULL, forgotten_before = $2
WHERE account_id = ANY ($1::bigint[]);

-- name: abandon_events
-- Gives up what the person said and was not answered yet, with what its turns had done.
WITH gone AS (
    UPDATE inbound_events e
    SET state = 'abandoned', payload = NULL, held_until = NULL, finished_at = $2
    FROM accounts a
    WHERE a.account_id = ANY ($1::bigint[]) AND e.state IN ('received', 'running') AND e.platform = a.platform
      AND e.payload #>> '{author,external_id}' = a.external_id AND e.payload #>> '{author,kind}' = a.kind
    RETURNING e.platform, e.event_id
), checkpoints AS (
    DELETE FROM turn_checkpoints c USING gone WHERE c.platform = gone.platform AND c.event_id = gone.event_id
)
SELECT platform, event_id FROM gone;

-- name: cancel_outbox
-- Takes back what was to be posted for the person's events; of what is being posted only the text goes.
UPDATE outbox o
SET payload = NULL,
    state = CASE o.state WHEN 'pending' THEN 'cancelled' ELSE o.state END,
    finished_at = CASE o.state WHEN 'pending' THEN $4 ELSE o.finished_at END,
    reason = CASE o.state WHEN 'pending' THEN 'a person was forgotten' ELSE o.reason END
WHERE o.payload IS NOT NULL
  AND (EXISTS (SELECT FROM accounts a
               WHERE a.account_id = ANY ($1::bigint[]) AND a.kind = o.payload #>> '{asker,kind}'
                 AND a.external_id = o.payload #>> '{asker,id}')
       OR EXISTS (SELECT FROM messages m
                  WHERE m.account_id = ANY ($1::bigint[]) AND m.platform = o.platform AND m.event_id = o.event_id)
       OR (o.platform, o.event_id) IN (SELECT * FROM unnest($2::text[], $3::text[])));

-- name: forget_messages
-- Removes the person from the rows of messages.
UPDATE messages SET account_id = NULL, user_id = NULL
WHERE account_id = ANY ($1::bigint[]) OR user_id = ANY ($2::bigint[]);

-- name: forget_relayed
-- Removes the person from what a relay has carried, and gives up what it has still to carry.
WITH waiting AS (
    UPDATE relay_events e SET payload = NULL, state = 'done', finished_at = $2, reason = 'a person was forgotten'
    FROM accounts a
    WHERE a.account_id = ANY ($1::bigint[]) AND e.payload IS NOT NULL
      AND a.external_id IN (e.payload ->> 'sender', e.payload #>> '{author,external_id}',
                            e.payload #>> '{message,asker,id}')
)
UPDATE relay_messages SET account_id = NULL, voice = NULL WHERE account_id = ANY ($1::bigint[]);

-- name: forget_names
-- Removes every name of the person.
DELETE FROM names WHERE account_id = ANY ($1::bigint[]);

-- name: forget_settings
-- Removes what the person has set, but for a refusal to be impersonated, which protects; and wishes for it.
WITH wishes AS (
    DELETE FROM impersonations WHERE account_id = ANY ($1::bigint[]) OR asked_by = ANY ($1::bigint[])
)
DELETE FROM account_settings
WHERE account_id = ANY ($1::bigint[]) AND NOT (key = 'impersonation.consent' AND value = '"off"');

-- name: forget_confirmations
-- Removes what the person was asked back about, and by whom codes were tried; that they were tried still counts.
WITH tries AS (
    UPDATE link_tries SET account_id = NULL WHERE account_id = ANY ($1::bigint[])
)
DELETE FROM confirmations WHERE account_id = ANY ($1::bigint[]);

-- name: forget_acts
-- Removes the trail of what was about the person.
DELETE FROM audit_trail WHERE subject_account_id = ANY ($1::bigint[]) OR subject_user_id = ANY ($2::bigint[]);

-- name: forget_actor
-- Takes the person off the trail of what was about others; that somebody looked stays.
UPDATE audit_trail SET actor_account_id = NULL WHERE actor_account_id = ANY ($1::bigint[]);

-- name: keep_receipt
-- Keeps what an erasure has removed, in numbers.
INSERT INTO erasures (account_id, erased_at, counts, plugins) VALUES ($1, $2, $3::jsonb, $4::text[]);

-- name: unfinished
-- Erasures in which one of some plugins had no part yet, because it was switched off.
SELECT erasure_id, account_id, counts, plugins FROM erasures
WHERE NOT plugins @> $1::text[] AND ($2::bigint IS NULL OR erasure_id = $2)
ORDER BY erasure_id;

-- name: add_to_receipt
-- Adds the parts of plugins that came back.
UPDATE erasures SET counts = $2::jsonb, plugins = $3::text[] WHERE erasure_id = $1;

-- name: lock_identity
-- The user row of a proxied identity, against saves.
SELECT user_id FROM users WHERE user_id = $1 AND kind = 'synthetic' FOR UPDATE;

-- name: forget_identity
-- Removes a proxied identity, and with its row whatever hangs on it.
WITH said AS (UPDATE messages SET user_id = NULL WHERE user_id = $1),
     seen AS (DELETE FROM audit_trail WHERE subject_user_id = $1)
DELETE FROM users WHERE user_id = $1 AND kind = 'synthetic';
