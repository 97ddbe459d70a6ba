-- name: lock_server
-- Holds a server's row, so that what is counted stays true until the transaction ends.
SELECT server_id FROM servers WHERE server_id = $1 FOR NO KEY UPDATE;

-- name: presets
-- The presets of a server by name.
SELECT * FROM presets WHERE server_id = $1 ORDER BY lower(name);

-- name: preset_by_name
-- One preset of a server, in whatever case its name is written.
SELECT * FROM presets WHERE server_id = $1 AND lower(name) = lower($2);

-- name: preset_in_use
-- The preset that a server uses.
SELECT * FROM presets WHERE server_id = $1 AND in_use;

-- name: count_presets
-- How many presets a server has.
SELECT count(*) FROM presets WHERE server_id = $1;

-- name: add_preset
-- Adds a preset.
INSERT INTO presets (server_id, name, prompts, samplers, in_use, created_at) VALUES ($1, $2, $3, $4, $5, $6)
RETURNING preset_id;

-- name: use_none
-- Lets a server use no preset; tells which one it was.
UPDATE presets SET in_use = false WHERE server_id = $1 AND in_use RETURNING name;

-- name: use_preset
-- Lets its server use a preset.
UPDATE presets SET in_use = true WHERE preset_id = $1;

-- name: remove_preset
-- Removes a preset.
DELETE FROM presets WHERE preset_id = $1;

-- name: counts
-- How many presets there are, and how many are in use, in all servers.
SELECT count(*) AS presets, count(*) FILTER (WHERE in_use) AS used FROM presets;
