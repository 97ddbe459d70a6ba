-- name: end_turns
-- Ends the turns that answer some messages and are under way, with their checkpoints.
WITH gone AS (
    UPDATE inbound_events e
    SET state = 'abandoned', payload = NULL, held_until = NULL, finished_at = $3
    FROM (SELECT DISTINCT platform, message_id FROM unnest($1::text[], $2::text[]) AS s (platform, message_id)) AS s
    WHERE e.state IN ('received', 'running') AND e.platform = s.platform AND e.payload ->> 'message_id' = s.message_id
    RETURNING e.platform, e.event_id
)
DELETE FROM turn_checkpoints c USING gone WHERE c.platform = gone.platform AND c.event_id = gone.event_id;
