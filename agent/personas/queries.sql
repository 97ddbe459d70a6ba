-- name: personas_of_server
-- Every persona of a server: the default one first, then the elder.
SELECT persona_id, server_id, persona_lineage_id, nickname, prompt, avatar, triggers, affixes, is_default
FROM personas
WHERE server_id = $1
ORDER BY is_default DESC, persona_id;

-- name: create
-- Under the server's lock: adds a persona.
INSERT INTO personas (server_id, persona_lineage_id, nickname, prompt, avatar, triggers, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
RETURNING persona_id;

-- name: new_lineage
-- Adds a lineage, and gives its id.
INSERT INTO persona_lineages (persona_lineage_id, created_at)
VALUES (nextval('persona_lineage_ids'), $1)
RETURNING persona_lineage_id;

-- name: is_lineage
-- Whether there is such a lineage.
SELECT EXISTS (SELECT FROM persona_lineages WHERE persona_lineage_id = $1);

-- name: rename
-- Under the server's lock: gives a persona another name.
UPDATE personas SET nickname = $2 WHERE persona_id = $1;

-- name: set_prompt
-- Under the server's lock: gives a persona another prompt.
UPDATE personas SET prompt = $2 WHERE persona_id = $1;

-- name: set_avatar
-- Under the server's lock: gives a persona another picture; the empty text is none.
UPDATE personas SET avatar = $2 WHERE persona_id = $1;

-- name: set_triggers
-- Under the server's lock: gives a persona other triggers.
UPDATE personas SET triggers = $2 WHERE persona_id = $1;

-- name: set_affixes
-- Under the server's lock: gives a persona other words that it puts around people's names.
UPDATE personas SET affixes = $2 WHERE persona_id = $1;

-- name: set_lineage
-- Under the server's lock: lets a persona share the memories of a lineage.
UPDATE personas SET persona_lineage_id = $2 WHERE persona_id = $1;

-- name: unset_default
-- Under the server's lock: the default persona becomes one like others; what it left open is filled in.
UPDATE personas
SET is_default = false, nickname = coalesce(nickname, $2), prompt = coalesce(prompt, $3),
    avatar = nullif(coalesce(avatar, $4), ''), triggers = coalesce(triggers, $5)
WHERE persona_id = $1;

-- name: set_default
-- Under the server's lock, when there is no default persona: makes one the default; no picture stays none.
UPDATE personas SET is_default = true, avatar = coalesce(avatar, '') WHERE persona_id = $1;

-- name: delete
-- Under the server's lock: removes a persona that is not the default one.
DELETE FROM personas WHERE persona_id = $1 AND NOT is_default;

-- name: reset
-- Under the server's lock: the default persona is again as the deployment has set it.
UPDATE personas SET nickname = NULL, prompt = NULL, avatar = NULL, triggers = NULL, affixes = '{}'
WHERE persona_id = $1 AND is_default;

-- name: persona_of_message
-- Which persona of a server said a message of the agent's.
SELECT p.persona_id
FROM messages m JOIN personas p ON p.persona_id = m.persona_id
WHERE m.platform = $1 AND m.message_id = $2 AND p.server_id = $3;
