-- name: record
-- Writes acts down, except those of people on what is about themselves.
INSERT INTO audit_trail (happened_at, act, via, by_operator, actor_account_id, subject_account_id, subject_user_id,
                         server_id, items)
SELECT n.happened_at, n.act, n.via, n.actor_account_id IS NULL, n.actor_account_id, n.about_account, n.about_user,
       n.server_id, n.items
FROM unnest($1::timestamptz[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
            $8::integer[])
     AS n (happened_at, act, via, actor_account_id, about_account, about_user, server_id, items)
LEFT JOIN accounts actor ON actor.account_id = n.actor_account_id
LEFT JOIN accounts about ON about.account_id = n.about_account
WHERE n.actor_account_id IS DISTINCT FROM n.about_account
  AND (actor.user_id IS NULL OR actor.user_id NOT IN (coalesce(n.about_user, -1), coalesce(about.user_id, -1)));

-- name: about
-- The acts on what is about a person, newest first; whoever hides is not named.
SELECT t.happened_at, t.act, t.via, t.by_operator, t.items, s.name AS server,
       CASE WHEN a.privacy_level = 'full' THEN NULL ELSE coalesce(n.value, a.display_name) END AS actor
FROM audit_trail t
LEFT JOIN servers s ON s.server_id = t.server_id
LEFT JOIN accounts a ON a.account_id = t.actor_account_id
LEFT JOIN names n ON n.server_id = t.server_id AND n.account_id = t.actor_account_id AND n.source = 'guild'
WHERE t.subject_account_id IN (SELECT x.account_id FROM accounts x
                               WHERE x.account_id = $1
                                  OR x.user_id = (SELECT y.user_id FROM accounts y WHERE y.account_id = $1))
   OR t.subject_user_id = (SELECT y.user_id FROM accounts y WHERE y.account_id = $1)
ORDER BY t.audit_id DESC
LIMIT $2;
