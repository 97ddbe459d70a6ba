-- name: claim
-- End a message whose place another one takes, unless it was answered or its turn has taken effect; a row when it is
-- ended. One that has not arrived yet is ended before it comes.
INSERT INTO inbound_events (platform, event_id, state, worker, conversation, received_at, finished_at)
VALUES ($1, $2, 'ignored', 0, '', $3, $3)
ON CONFLICT (platform, event_id) DO UPDATE
   SET state = 'ignored', payload = NULL, held_until = NULL, finished_at = $3
 WHERE inbound_events.state IN ('received', 'running')
   AND NOT EXISTS (SELECT FROM turn_checkpoints c
                   WHERE c.platform = inbound_events.platform AND c.event_id = inbound_events.event_id)
RETURNING true;

-- name: went_unanswered
-- Whether a message ended without a word.
SELECT e.state = 'ignored' AND NOT EXISTS (SELECT FROM outbox o WHERE o.platform = e.platform AND o.event_id = e.event_id)
FROM inbound_events e WHERE e.platform = $1 AND e.event_id = $2;
