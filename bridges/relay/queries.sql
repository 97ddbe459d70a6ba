-- name: keep
-- Keeps what was heard, each event once.
INSERT INTO relay_events (side, event_id, room_id, kind, target, state, payload, received_at)
SELECT $1, e.event_id, e.room_id, e.kind, e.target, 'waiting', e.payload::jsonb, $7
FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) WITH ORDINALITY
     AS e (event_id, room_id, kind, target, payload, position)
ORDER BY e.position
ON CONFLICT (side, event_id) DO NOTHING
RETURNING room_id;

-- name: waiting
-- What is to be carried over next, in order.
SELECT relay_event_id, side, event_id, room_id, kind, target, payload::text AS payload, attempts, received_at
FROM relay_events WHERE side = $1 AND room_id = $2 AND state = 'waiting'
ORDER BY relay_event_id LIMIT $3;

-- name: lanes
-- Where something waits.
SELECT DISTINCT side, room_id FROM relay_events WHERE state = 'waiting';

-- name: settle
-- Ends an event; its text is not needed any more.
UPDATE relay_events SET state = $2, reason = $3, finished_at = $4, payload = NULL WHERE relay_event_id = $1;

-- name: put_off
-- Counts a try that failed.
UPDATE relay_events SET attempts = attempts + 1 WHERE relay_event_id = $1 RETURNING attempts;

-- name: is_early
-- Keeps an edit whose message has not come yet.
UPDATE relay_events SET state = 'early', finished_at = $2 WHERE relay_event_id = $1;

-- name: about
-- What came before the message that it is about: a redaction, or edits by their age.
SELECT relay_event_id, kind, state, payload::text AS payload FROM relay_events
WHERE side = $1 AND room_id = $2 AND target = $3 ORDER BY relay_event_id;

-- name: drop_room
-- Gives up what waits in a room that is not linked any more.
UPDATE relay_events SET state = 'done', reason = 'not linked any more', finished_at = $2, payload = NULL
WHERE room_id = $1 AND state IN ('waiting', 'early');

-- name: sweep_events
-- Forgets what was carried over; the ids stay for as long as an event may come again.
DELETE FROM relay_events WHERE received_at < $1 AND state <> 'waiting';

-- name: sweep_early
-- Gives up edits whose message does not come.
UPDATE relay_events SET state = 'done', reason = 'its message never came', payload = NULL
WHERE state = 'early' AND received_at < $1;

-- name: sweep_messages
-- Forgets which old messages belong together.
DELETE FROM relay_messages WHERE created_at < $1;

-- name: add_message
-- Keeps which message stands for which.
INSERT INTO relay_messages (side, room_id, event_id, channel, message_id, webhook_id, part, account_id, voice, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (event_id, message_id) DO NOTHING;

-- name: of_event
-- The messages that belong to an event of a room, by part.
SELECT r.relay_message_id, r.side, r.room_id, r.event_id, r.channel, r.message_id, r.webhook_id, r.part, r.voice,
       r.gone_at, a.kind, a.external_id, a.display_name, a.platform
FROM relay_messages r LEFT JOIN accounts a ON a.account_id = r.account_id
WHERE r.event_id = $1 AND r.room_id = $2 ORDER BY r.part;

-- name: of_message
-- The events that belong to a message of a channel or its threads, by part.
SELECT r.relay_message_id, r.side, r.room_id, r.event_id, r.channel, r.message_id, r.webhook_id, r.part, r.voice,
       r.gone_at, a.kind, a.external_id, a.display_name, a.platform
FROM relay_messages r LEFT JOIN accounts a ON a.account_id = r.account_id
WHERE r.message_id = $1 AND r.room_id = $2 ORDER BY r.part;

-- name: known_since
-- The messages that are known of a channel since a moment.
SELECT message_id FROM relay_messages WHERE channel = $1 AND created_at >= $2;

-- name: gone
-- Keeps that messages are deleted, so that the deletion's own echo is known.
UPDATE relay_messages SET gone_at = $2 WHERE relay_message_id = ANY ($1::bigint[]) AND gone_at IS NULL;

-- name: links
-- Every link, in order.
SELECT link_id, room_id, platform, server, channel, state, reason, is_agreed FROM relay_links ORDER BY link_id;

-- name: ask
-- Asks for a link; nothing where the room or the channel is linked already.
INSERT INTO relay_links (room_id, platform, server, channel, state, is_agreed, created_at, changed_at)
VALUES ($1, $2, $3, $4, 'asked', $5, $6, $6)
ON CONFLICT DO NOTHING RETURNING link_id;

-- name: change_link
-- Makes a link what it is now.
UPDATE relay_links SET state = $2, reason = $3, changed_at = $4, server = coalesce($5, server)
WHERE link_id = $1 AND state <> 'ending';

-- name: agree
-- Keeps that the room's side agrees as well.
UPDATE relay_links SET is_agreed = true, changed_at = $2 WHERE link_id = $1;

-- name: end_link
-- Asks for the end of a link.
UPDATE relay_links SET state = 'ending', reason = $2, changed_at = $3 WHERE link_id = $1 RETURNING link_id;

-- name: drop_link
-- Forgets a link that has ended.
DELETE FROM relay_links WHERE link_id = $1;

-- name: move_link
-- Lets a link follow a room to the one that has taken its place.
UPDATE relay_links SET room_id = $2, changed_at = $3 WHERE link_id = $1;
