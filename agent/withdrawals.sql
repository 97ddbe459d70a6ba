-- name: place_of
-- The rows of a channel and of its server.
SELECT channel_id, server_id FROM channels WHERE platform = $1 AND external_id = $2;
