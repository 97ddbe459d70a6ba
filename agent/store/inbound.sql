-- name: receive
-- Take an event once: a row when it is new, none when it has been here before.
INSERT INTO inbound_events (platform, event_id, state, worker, conversation, payload, held_until, received_at, finished_at,
                            message_id)
VALUES ($1, $2, $3, $4, $5, $6::text::jsonb, $7, $8, $9, $10)
ON CONFLICT (platform, event_id) DO NOTHING
RETURNING true AS is_new;

-- name: receive_deletion
-- Take the deletion of a message once, to be dealt with, and end what is unfinished about the message: whoever answers
-- it keeps nothing more, and what it has kept is committed before this. A row when the deletion is new.
WITH taken AS (
    INSERT INTO inbound_events (platform, event_id, state, worker, conversation, payload, received_at)
    VALUES ($1, $2, 'received', $3, $4, $5::text::jsonb, $6)
    ON CONFLICT (platform, event_id) DO NOTHING
    RETURNING platform, conversation
), ended AS (
    UPDATE inbound_events e
       SET state = 'ignored', payload = NULL, held_until = NULL, finished_at = $6
      FROM taken
     WHERE e.platform = taken.platform AND e.conversation = taken.conversation AND e.state IN ('received', 'running')
       AND e.payload ->> 'type' = 'message_created' AND e.payload ->> 'message_id' = $7
    RETURNING e.platform, e.event_id
), gone AS (
    DELETE FROM turn_checkpoints c USING ended WHERE c.platform = ended.platform AND c.event_id = ended.event_id
)
SELECT true AS is_new FROM taken;

-- name: receive_edit
-- Take the edit of a message once: finished at once, and what waits for a turn of this worker gets the new text, unless
-- its turn has taken effect already. A row when the edit is new; with the event as it is now when it got the text.
WITH taken AS (
    INSERT INTO inbound_events (platform, event_id, state, worker, conversation, received_at, finished_at)
    VALUES ($1, $2, 'ignored', $3, $4, $5, $5)
    ON CONFLICT (platform, event_id) DO NOTHING
    RETURNING platform, conversation
), mended AS (
    UPDATE inbound_events e
       SET payload = jsonb_set(e.payload, '{text}', to_jsonb($7::text)), attempts = 0
      FROM taken
     WHERE e.platform = taken.platform AND e.conversation = taken.conversation AND e.worker = $3
       AND e.state IN ('received', 'running')
       AND e.payload ->> 'type' = 'message_created' AND e.payload ->> 'message_id' = $6
       AND NOT EXISTS (SELECT FROM turn_checkpoints c WHERE c.platform = e.platform AND c.event_id = e.event_id)
    RETURNING e.payload
)
SELECT (SELECT payload::text FROM mended) AS payload FROM taken;

-- name: answered
-- The event that brought a message which was answered lately, by an answer that stands and changed nothing else; and how
-- often the message was answered.
SELECT e.event_id, count(*) OVER () AS times
  FROM inbound_events e
 WHERE e.platform = $1 AND e.message_id = $2 AND e.conversation = $3 AND e.state = 'answered' AND e.finished_at >= $4
   AND NOT EXISTS (SELECT FROM outbox o
                    WHERE o.platform = e.platform AND o.event_id = e.event_id
                      AND (o.state IN ('pending', 'sending') OR o.about_memories IS NOT NULL OR o.withdrawn_at IS NOT NULL))
 ORDER BY EXISTS (SELECT FROM messages m WHERE m.platform = e.platform AND m.event_id = e.event_id) DESC
 LIMIT 1;

-- name: was_passed_over
-- Whether a message came, and nobody has answered it or will.
SELECT coalesce(bool_and(state = 'ignored'), false)
  FROM inbound_events
 WHERE platform = $1 AND message_id = $2 AND conversation = $3;

-- name: parts
-- The messages that answer a message and still stand, in order.
SELECT m.message_id
  FROM inbound_events e
  JOIN messages m ON m.platform = e.platform AND m.event_id = e.event_id
 WHERE e.platform = $1 AND e.message_id = $2 AND e.state = 'answered'
   AND NOT EXISTS (SELECT FROM outbox o
                    WHERE o.platform = m.platform AND o.message_id = m.message_id AND o.kind = 'withdraw')
 ORDER BY m.part, m.created_at;

-- name: held
-- A message that waits, as it is by now.
SELECT payload::text FROM inbound_events
 WHERE platform = $1 AND event_id = $2 AND worker = $3 AND state = 'received';

-- name: restate
-- Keep who answers for a message that waits; an edit that came meanwhile keeps its text.
UPDATE inbound_events
   SET payload = jsonb_set($4::text::jsonb, '{text}', payload -> 'text')
 WHERE platform = $1 AND event_id = $2 AND worker = $3 AND state = 'received' AND payload IS NOT NULL;

-- name: waits
-- Whether an event was taken by this worker and has not begun.
SELECT true FROM inbound_events WHERE platform = $1 AND event_id = $2 AND worker = $3 AND state = 'received';

-- name: begin
-- Begin a run of an event that waits; no row when it is no longer this worker's.
UPDATE inbound_events
   SET state = 'running', attempts = attempts + 1, held_until = NULL
 WHERE platform = $1 AND event_id = $2 AND worker = $3 AND state IN ('received', 'running')
RETURNING attempts;

-- name: finish
-- End an event and put its answer into the outbox, or do neither: 0 when it is no longer this worker's.
WITH done AS (
    UPDATE inbound_events
       SET state = $4, payload = NULL, held_until = NULL, finished_at = $5
     WHERE platform = $1 AND event_id = $2 AND worker = $3 AND state IN ('received', 'running')
    RETURNING platform, event_id
), gone AS (
    DELETE FROM turn_checkpoints c USING done WHERE c.platform = done.platform AND c.event_id = done.event_id
), posted AS (
    INSERT INTO outbox (key, kind, platform, event_id, channel, state, worker, payload, message_id, created_at)
    SELECT part.key, CASE WHEN part.replaces IS NULL THEN 'post' ELSE 'edit' END, done.platform, done.event_id, $6,
           'pending', $3, part.payload::jsonb, part.replaces, $5
      FROM done CROSS JOIN unnest($7::text[], $8::text[], $9::text[]) WITH ORDINALITY
             AS part(key, payload, replaces, ordinal)
     ORDER BY part.ordinal
    RETURNING outbox_id
), withdrawn AS (
    INSERT INTO outbox (key, kind, platform, channel, state, worker, message_id, created_at)
    SELECT 'withdraw:' || $2 || ':' || surplus, 'withdraw', done.platform, $6, 'pending', 0, surplus, $5
      FROM done CROSS JOIN unnest($10::text[]) AS surplus
)
SELECT (SELECT count(*) FROM done) AS finished,
       (SELECT array_agg(outbox_id ORDER BY outbox_id) FROM posted) AS outbox_ids;

-- name: unfinished_workers
-- Workers that hold unfinished events of these platforms.
SELECT DISTINCT worker FROM inbound_events
 WHERE state IN ('received', 'running') AND platform = ANY ($1::text[]) AND worker <> $2;

-- name: abandon_stale
-- Give up what a dead worker left that is too old or was tried often enough; counted by the caller. The deletion of a
-- message is dealt with however late.
WITH stale AS (
    UPDATE inbound_events
       SET state = 'abandoned', payload = NULL, held_until = NULL, finished_at = $4
     WHERE state IN ('received', 'running') AND platform = ANY ($1::text[]) AND worker = ANY ($2::bigint[])
       AND (received_at < $3 OR attempts >= $5 OR payload IS NULL)
       AND payload ->> 'type' IS DISTINCT FROM 'message_deleted'
    RETURNING platform, event_id
), gone AS (
    DELETE FROM turn_checkpoints c USING stale WHERE c.platform = stale.platform AND c.event_id = stale.event_id
)
SELECT platform, event_id FROM stale;

-- name: take_over
-- Take what a dead worker left unfinished, oldest first.
WITH taken AS (
    UPDATE inbound_events
       SET state = 'received', worker = $3
     WHERE state IN ('received', 'running') AND platform = ANY ($1::text[]) AND worker = ANY ($2::bigint[])
    RETURNING event_id, payload, received_at
)
SELECT payload::text AS payload FROM taken ORDER BY received_at, event_id;

-- name: load_checkpoint
-- The messages of the last checkpoint of an event.
SELECT messages::text AS messages FROM turn_checkpoints
 WHERE platform = $1 AND event_id = $2 ORDER BY position DESC LIMIT 1;

-- name: write_checkpoint
-- Keep a checkpoint, if the event is still run by this worker; no row when it is not.
INSERT INTO turn_checkpoints (platform, event_id, position, messages)
SELECT platform, event_id, $4, $5::text::jsonb FROM inbound_events
 WHERE platform = $1 AND event_id = $2 AND worker = $3 AND state = 'running'
   FOR SHARE
RETURNING true AS written;

-- name: sweep
-- Forget finished events that are too old to come again.
DELETE FROM inbound_events WHERE state NOT IN ('received', 'running') AND received_at < $1;
