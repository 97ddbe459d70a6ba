-- name: add
-- Put messages of an event into the outbox, inside the caller's transaction; what stands there already stays.
INSERT INTO outbox (key, platform, event_id, channel, state, worker, payload, created_at, about_memories,
                    about_accounts, about_users)
SELECT part.key, $1, $2, $3, 'pending', $4, part.payload::jsonb, $5, $8, $9, $10
  FROM unnest($6::text[], $7::text[]) WITH ORDINALITY AS part(key, payload, ordinal)
 ORDER BY part.ordinal
ON CONFLICT (key) DO NOTHING
RETURNING outbox_id, key;

-- name: add_edit
-- Put another text for a message that was sent into the outbox, inside the caller's transaction.
INSERT INTO outbox (key, kind, platform, event_id, channel, state, worker, payload, message_id, created_at)
VALUES ($1, 'edit', $2, $3, $4, 'pending', $5, $6::text::jsonb, $7, $8)
ON CONFLICT (key) DO NOTHING
RETURNING outbox_id;

-- name: claim
-- Mark a message as about to be posted; no row when it is not there, was taken back, or is not this worker's to post.
UPDATE outbox SET state = 'sending', attempts = attempts + 1
 WHERE outbox_id = $1 AND worker = $2 AND state IN ('pending', 'sending') AND payload IS NOT NULL
RETURNING attempts;

-- name: settle
-- Keep what became of a message; its text is not needed any more. A row comes back when it was withdrawn meanwhile:
-- what stands on the platform is then to be deleted.
WITH settled AS (
    UPDATE outbox SET state = $2, message_id = coalesce($3, message_id), reason = $4, finished_at = $5, payload = NULL
     WHERE outbox_id = $1 AND state IN ('pending', 'sending')
    RETURNING outbox_id, kind, platform, event_id, channel, message_id, withdrawn_at
), noted AS (
    INSERT INTO messages (platform, message_id, channel_id, persona_id, event_id, part, created_at)
    SELECT settled.platform, settled.message_id, channels.channel_id,
           (SELECT persona_id FROM personas WHERE persona_id = $6::bigint), settled.event_id, $7::smallint, $5
      FROM settled JOIN channels ON channels.platform = settled.platform AND channels.external_id = settled.channel
     WHERE settled.message_id IS NOT NULL AND settled.kind = 'post'
    ON CONFLICT (platform, message_id) DO NOTHING
)
INSERT INTO outbox (key, kind, platform, channel, state, worker, message_id, created_at)
SELECT 'withdraw:' || outbox_id, 'withdraw', platform, channel, 'pending', 0, message_id, $5
  FROM settled
 WHERE kind = 'post' AND withdrawn_at IS NOT NULL AND message_id IS NOT NULL
ON CONFLICT (key) DO NOTHING
RETURNING outbox_id;

-- name: unsent_of_event
-- What of an event this worker has still to send, in order.
SELECT outbox_id, CASE kind WHEN 'edit' THEN message_id END AS edits, payload::text AS payload, created_at FROM outbox
 WHERE platform = $1 AND event_id = $2 AND worker = $3 AND state = 'pending' AND payload IS NOT NULL
 ORDER BY outbox_id;

-- name: unsent_workers
-- Workers that hold unsent messages of these platforms.
SELECT DISTINCT worker FROM outbox
 WHERE state IN ('pending', 'sending') AND platform = ANY ($1::text[]) AND worker <> $2 AND kind <> 'withdraw';

-- name: take_over
-- Take what a dead worker left unsent, in order.
WITH taken AS (
    UPDATE outbox SET worker = $3
     WHERE state IN ('pending', 'sending') AND platform = ANY ($1::text[]) AND worker = ANY ($2::bigint[])
       AND kind <> 'withdraw'
    RETURNING outbox_id, state, kind, message_id, payload, created_at
)
SELECT outbox_id, state, CASE kind WHEN 'edit' THEN message_id END AS edits, payload::text AS payload, created_at
  FROM taken ORDER BY outbox_id;

-- name: cancel_stale
-- Give up what a dead worker left unsent for too long; counted by the caller.
UPDATE outbox SET state = 'cancelled', payload = NULL, finished_at = $4, reason = 'too old when found'
 WHERE state IN ('pending', 'sending') AND platform = ANY ($1::text[]) AND worker = ANY ($2::bigint[])
   AND kind <> 'withdraw' AND (created_at < $3 OR payload IS NULL)
RETURNING key;

-- name: sweep
-- Forget settled messages after 30 days; of a notice that was sent the ids stay, so that it can be withdrawn.
DELETE FROM outbox
 WHERE created_at < $1 AND state NOT IN ('pending', 'sending') AND NOT (state = 'sent' AND about_memories IS NOT NULL);

-- name: sweep_messages
-- Forget who said which message after 30 days.
DELETE FROM messages WHERE created_at < $1;
