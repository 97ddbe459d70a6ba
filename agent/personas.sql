-- name: personas_of_server
-- Every persona of a server: the default one first, then the elder.
SELECT persona_id, server_id, persona_lineage_id, nickname, prompt, avatar, triggers, is_default
FROM personas
WHERE server_id = $1
ORDER BY is_default DESC, persona_id;
