-- name: lock_servers
-- Locks, ascending, the servers that remember something about a user.
SELECT server_id FROM servers
 WHERE server_id IN (SELECT server_id FROM server_memories WHERE subject_user_id = $1)
 ORDER BY server_id FOR NO KEY UPDATE;

-- name: mark_side
-- Personal memories that name no account of their subject get one, so that it is known later whose side they are of.
UPDATE personal_memories SET subject_account_id = $2 WHERE user_id = $1 AND subject_account_id IS NULL;

-- name: mark_forgotten
-- The same of undo copies.
UPDATE forgotten_memories
   SET subject_account_id = $2, memory = memory || jsonb_build_object('subject_account_id', $2::bigint)
 WHERE user_id = $1 AND subject_account_id IS NULL;

-- name: move_personal
-- The memories of a user that go to another one ($2): all ($3), or those about the accounts that go ($4), and of those
-- that are about none of the person's accounts ($5: that stay) what was learned on their platforms ($6).
UPDATE personal_memories
   SET user_id = $2, subject_user_id = CASE WHEN subject_user_id = $1 THEN $2 ELSE subject_user_id END
 WHERE user_id = $1
   AND ($3 OR subject_account_id = ANY ($4::bigint[])
        OR (NOT coalesce(subject_account_id = ANY ($4::bigint[] || $5::bigint[]), false)
            AND source_platform = ANY ($6::text[])));

-- name: move_forgotten
-- The same of undo copies.
UPDATE forgotten_memories
   SET user_id = $2,
       subject_user_id = CASE WHEN subject_user_id = $1 THEN $2 ELSE subject_user_id END,
       memory = memory || jsonb_build_object('user_id', $2::bigint)
                || CASE WHEN (memory ->> 'subject_user_id')::bigint = $1
                        THEN jsonb_build_object('subject_user_id', $2::bigint) ELSE '{}'::jsonb END
 WHERE user_id = $1
   AND ($3 OR subject_account_id = ANY ($4::bigint[])
        OR (NOT coalesce(subject_account_id = ANY ($4::bigint[] || $5::bigint[]), false)
            AND memory ->> 'source_platform' = ANY ($6::text[])));

-- name: move_about
-- Server memories about a user are about another one, or, where there is none, about the account alone.
UPDATE server_memories SET subject_user_id = $2
 WHERE subject_user_id = $1 AND ($3 OR subject_account_id = ANY ($4::bigint[]))
RETURNING server_id;

-- name: move_forgotten_about
-- The same of undo copies.
UPDATE forgotten_memories
   SET subject_user_id = $2, memory = memory || jsonb_build_object('subject_user_id', $2::bigint)
 WHERE scope = 'server' AND subject_user_id = $1 AND ($3 OR subject_account_id = ANY ($4::bigint[]));

-- name: stayed
-- How many memories a user has.
SELECT count(*) FROM personal_memories WHERE user_id = $1;
