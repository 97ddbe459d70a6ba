-- name: preference_rows
-- What a server and an account have chosen, in one statement.
SELECT 'server' AS layer, key, value FROM server_settings WHERE server_id = $1
UNION ALL
SELECT 'person', key, value FROM account_settings WHERE account_id = $2

-- name: set_server_preference
-- Choose a value for a server; SQL NULL stands for JSON null.
INSERT INTO server_settings (server_id, key, value)
VALUES ($1, $2, coalesce($3::jsonb, 'null'))
ON CONFLICT (server_id, key) DO UPDATE SET value = excluded.value

-- name: set_account_preference
-- Choose a value for an account; SQL NULL stands for JSON null.
INSERT INTO account_settings (account_id, key, value)
VALUES ($1, $2, coalesce($3::jsonb, 'null'))
ON CONFLICT (account_id, key) DO UPDATE SET value = excluded.value

-- name: clear_server_preference
-- Go back to what the deployment says.
DELETE FROM server_settings WHERE server_id = $1 AND key = $2 RETURNING key

-- name: clear_account_preference
-- Go back to what the server says.
DELETE FROM account_settings WHERE account_id = $1 AND key = $2 RETURNING key
