-- name: channel_name
-- The name of a channel, if it belongs to this server.
SELECT name FROM channels WHERE server_id = $1 AND platform = $2 AND external_id = $3;
