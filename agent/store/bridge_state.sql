-- name: read
-- One value of a bridge.
SELECT value, is_secret FROM bridge_state WHERE bridge = $1 AND key = $2;

-- name: read_below
-- Every value whose key begins so, by key.
SELECT key, value, is_secret FROM bridge_state WHERE bridge = $1 AND starts_with(key, $2) ORDER BY key;

-- name: write
-- Keep values; the last one of a key stands.
INSERT INTO bridge_state (bridge, key, value, is_secret, updated_at)
SELECT $1, given.key, given.value, $4, $5 FROM unnest($2::text[], $3::text[]) AS given(key, value)
ON CONFLICT (bridge, key) DO UPDATE
   SET value = excluded.value, is_secret = excluded.is_secret, updated_at = excluded.updated_at;

-- name: remove
-- Forget values.
DELETE FROM bridge_state WHERE bridge = $1 AND key = ANY ($2::text[]);

-- name: secrets
-- Everything that is encrypted, of every bridge.
SELECT bridge, key, value FROM bridge_state WHERE is_secret FOR UPDATE;

-- name: replace
-- Put a value that was encrypted anew into its place.
UPDATE bridge_state SET value = $3 WHERE bridge = $1 AND key = $2;
