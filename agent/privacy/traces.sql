-- name: give_up_turns
-- Ends the turns that answer some messages and are under way, with their checkpoints.
WITH gone AS (
    UPDATE inbound_events e
    SET state = 'abandoned', payload = NULL, held_until = NULL, finished_at = $3
    FROM (SELECT DISTINCT platform, message_id FROM unnest($1::text[], $2::text[]) AS s (platform, message_id)) AS s
    WHERE e.state IN ('received', 'running') AND e.platform = s.platform AND e.payload ->> 'message_id' = s.message_id
    RETURNING e.platform, e.event_id
)
DELETE FROM turn_checkpoints c USING gone WHERE c.platform = gone.platform AND c.event_id = gone.event_id;

-- name: cancel_cards
-- Takes back the cards that tell of some memories; of what is being posted only the text goes.
UPDATE outbox
SET payload = NULL,
    state = CASE state WHEN 'pending' THEN 'cancelled' ELSE state END,
    finished_at = CASE state WHEN 'pending' THEN $2 ELSE finished_at END,
    reason = CASE state WHEN 'pending' THEN 'a person was forgotten' ELSE reason END
WHERE payload IS NOT NULL
  AND ((payload #>> '{card,memory_id}')::bigint = ANY ($1::bigint[])
       OR (payload #>> '{card,forgotten_id}')::bigint = ANY ($1::bigint[]));
