-- name: personas
-- Which of these messages the agent has sent, and as which persona.
SELECT message_id, persona_id FROM messages
 WHERE platform = $1 AND message_id = ANY ($2::text[]) AND account_id IS NULL AND user_id IS NULL;
