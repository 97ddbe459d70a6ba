-- name: use_instance
-- The row of an instance by its name, made when it is new.
INSERT INTO message_proxy_instances (name, service) VALUES ($1, $2)
ON CONFLICT (name) DO UPDATE SET service = excluded.service
RETURNING instance_id, application_id;

-- name: server_choice
-- What a server has chosen of one preference.
SELECT c.key, c.value FROM servers s JOIN server_settings c USING (server_id)
WHERE s.platform = $1 AND s.external_id = $2 AND c.key = $3;

-- name: learn_application
-- Keep which application posts for an instance.
UPDATE message_proxy_instances SET application_id = $2, learned_at = $3
WHERE instance_id = $1 AND application_id IS DISTINCT FROM $2;

-- name: choices
-- Who uses which instance; of one account where it is given.
SELECT account_id, instance_id FROM message_proxy_choices
WHERE $1::bigint IS NULL OR account_id = $1
ORDER BY account_id, instance_id;

-- name: choose
-- Somebody uses an instance.
INSERT INTO message_proxy_choices (account_id, instance_id, chosen_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING;

-- name: unchoose
-- Somebody uses none any more; what was expected of them is not any more.
WITH gone AS (DELETE FROM message_proxy_choices WHERE account_id = $1 RETURNING instance_id),
     unexpected AS (DELETE FROM message_proxy_expectations WHERE account_id = $1)
SELECT instance_id FROM gone;

-- name: channels
-- Where services were seen or somebody who uses them has spoken lately.
SELECT platform, channel, instance_id, seen_at, expected_at FROM message_proxy_channels
WHERE greatest(seen_at, expected_at) > $1;

-- name: note_channel
-- Keep that a service was seen in a channel, or that somebody who uses it has spoken there.
INSERT INTO message_proxy_channels (platform, channel, instance_id, seen_at, expected_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (platform, channel, instance_id) DO UPDATE
SET seen_at = greatest(message_proxy_channels.seen_at, excluded.seen_at),
    expected_at = greatest(message_proxy_channels.expected_at, excluded.expected_at);

-- name: expect
-- Keep a message that may be reposted through one of these instances.
INSERT INTO message_proxy_expectations
    (platform, message_id, instance_id, channel, account_id, sender_id, is_command, event, occurred_at)
SELECT $1, $2, one.instance_id, $4, $5, $6, one.is_command, $8::text::jsonb, $9
FROM unnest($3::bigint[], $7::boolean[]) AS one (instance_id, is_command)
ON CONFLICT DO NOTHING;

-- name: expected
-- What may have been reposted in a channel about a moment.
SELECT instance_id, account_id, sender_id, is_command, event::text AS event FROM message_proxy_expectations
WHERE platform = $1 AND channel = $2 AND occurred_at BETWEEN $3 AND $4
ORDER BY occurred_at, message_id;

-- name: lock_expectation
-- The expectation that a claim rests on, if its account still uses the instance.
SELECT e.claimed_by FROM message_proxy_expectations e
JOIN message_proxy_choices c ON c.account_id = e.account_id AND c.instance_id = e.instance_id
WHERE e.platform = $1 AND e.message_id = $2 AND e.instance_id = $3
FOR UPDATE OF e;

-- name: take_expectation
-- One message has taken the place of an original, for every instance.
UPDATE message_proxy_expectations SET claimed_by = $3 WHERE platform = $1 AND message_id = $2;

-- name: add_namespace
-- A system that is new.
INSERT INTO message_proxy_namespaces (instance_id, namespace_key, name) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING;

-- name: lock_namespace
-- A system, against changes of its members and hosts; writes about its members wait.
SELECT namespace_id, name FROM message_proxy_namespaces WHERE instance_id = $1 AND namespace_key = $2 FOR NO KEY UPDATE;

-- name: read_namespace
-- A system as it stands, unlocked, with whether an account is its host and who is a member of it.
SELECT n.namespace_id, n.name,
       EXISTS (SELECT FROM message_proxy_namespace_accounts a
               WHERE a.namespace_id = n.namespace_id AND a.account_id = $3) AS is_host,
       EXISTS (SELECT FROM message_proxy_namespace_accounts a
               JOIN message_proxy_namespaces other USING (namespace_id)
               WHERE a.account_id = $3 AND other.instance_id = $1 AND other.namespace_id <> n.namespace_id) AS is_elsewhere,
       i.user_id, i.name AS member_name, i.pronouns
FROM message_proxy_namespaces n
LEFT JOIN external_identities x ON x.kind = 'proxy_identity' AND x.instance_id = $1 AND x.external_key = $4
LEFT JOIN message_proxy_identities i ON i.user_id = x.user_id AND i.namespace_id = n.namespace_id
WHERE n.instance_id = $1 AND n.namespace_key = $2;

-- name: rename_namespace
-- A system's name as its service shows it now.
UPDATE message_proxy_namespaces SET name = $2 WHERE namespace_id = $1;

-- name: find_identity
-- The user of an identity.
SELECT user_id FROM external_identities WHERE kind = 'proxy_identity' AND instance_id = $1 AND external_key = $2;

-- name: add_identity
-- An identity that is new, with the user row that owns what is remembered of it.
WITH made AS (
    INSERT INTO users (kind, created_at) VALUES ('synthetic', $3) RETURNING user_id
)
INSERT INTO external_identities (kind, instance_id, external_key, user_id)
SELECT 'proxy_identity', $1, $2, user_id FROM made
RETURNING user_id;

-- name: show_identity
-- An identity as its service shows it now: what it hides is not kept.
INSERT INTO message_proxy_identities (user_id, namespace_id, name, pronouns, first_seen_at, last_seen_at)
VALUES ($1, $2, $3, $4, $5, $5)
ON CONFLICT (user_id) DO UPDATE
SET namespace_id = excluded.namespace_id, name = excluded.name, pronouns = excluded.pronouns,
    last_seen_at = excluded.last_seen_at;

-- name: link_host
-- An account is a host of a system.
INSERT INTO message_proxy_namespace_accounts (namespace_id, account_id, linked_at, checked_at) VALUES ($1, $2, $3, $3)
ON CONFLICT (namespace_id, account_id) DO UPDATE SET checked_at = excluded.checked_at;

-- name: unlink_elsewhere
-- An account has one system in an instance: it is no host of another one any more.
DELETE FROM message_proxy_namespace_accounts a
USING message_proxy_namespaces n
WHERE a.namespace_id = n.namespace_id AND n.instance_id = $1 AND a.account_id = $2
  AND ($3::bigint IS NULL OR n.namespace_id <> $3);

-- name: lock_other_namespaces
-- The other systems of an instance that an account is a host of, against changes.
SELECT n.namespace_id FROM message_proxy_namespaces n
JOIN message_proxy_namespace_accounts a ON a.namespace_id = n.namespace_id
WHERE n.instance_id = $1 AND a.account_id = $2 AND ($3::bigint IS NULL OR n.namespace_id <> $3)
ORDER BY n.namespace_id
FOR NO KEY UPDATE OF n;

-- name: index_message
-- Which identity said a message.
INSERT INTO message_proxy_message_index (platform, message_id, user_id, account_id, original_id, triggers, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT DO NOTHING;

-- name: indexed
-- Who said some messages, with who is a host of them.
SELECT m.message_id, m.account_id, m.triggers, m.original_id, i.user_id, i.name, i.pronouns, n.name AS system,
       s.name AS instance, x.external_key, a.kind AS account_kind, a.external_id AS account_external_id,
       (SELECT array_agg(h.account_id ORDER BY h.account_id) FROM message_proxy_namespace_accounts h
        WHERE h.namespace_id = i.namespace_id) AS hosts
FROM message_proxy_message_index m
JOIN message_proxy_identities i ON i.user_id = m.user_id
JOIN external_identities x ON x.user_id = m.user_id
JOIN message_proxy_namespaces n ON n.namespace_id = i.namespace_id
JOIN message_proxy_instances s ON s.instance_id = n.instance_id
JOIN accounts a ON a.account_id = m.account_id
WHERE m.platform = $1 AND m.message_id = ANY ($2::text[]);

-- name: identities_of
-- The members of the systems that an account is a host of.
SELECT i.user_id, i.name, i.pronouns, i.last_seen_at, n.name AS system, n.namespace_id, s.name AS instance,
       x.external_key,
       (SELECT array_agg(h.account_id ORDER BY h.account_id) FROM message_proxy_namespace_accounts h
        WHERE h.namespace_id = i.namespace_id) AS hosts
FROM message_proxy_namespace_accounts a
JOIN message_proxy_namespaces n ON n.namespace_id = a.namespace_id
JOIN message_proxy_instances s ON s.instance_id = n.instance_id
JOIN message_proxy_identities i ON i.namespace_id = n.namespace_id
JOIN external_identities x ON x.user_id = i.user_id
WHERE a.account_id = $1
ORDER BY n.name, i.name, i.user_id;

-- name: hosts
-- Who is a host of some identities, with what counts for them in a server now; a row without account: nobody is.
SELECT x.user_id AS identity, f.account_id, f.user_id, f.privacy_level, f.forgotten_before, f.blacklisted, f.personal_off
FROM external_identities x
LEFT JOIN message_proxy_identities i ON i.user_id = x.user_id
LEFT JOIN LATERAL facts_of_people(
    (SELECT array_agg(h.account_id) FROM message_proxy_namespace_accounts h WHERE h.namespace_id = i.namespace_id),
    '{}'::bigint[], $2::bigint) f ON true
WHERE x.user_id = ANY ($1::bigint[])
ORDER BY x.user_id, f.account_id;

-- name: share_namespaces
-- The systems of some identities, so that nobody changes who their hosts are until the transaction ends.
SELECT n.namespace_id FROM message_proxy_namespaces n
JOIN message_proxy_identities i ON i.namespace_id = n.namespace_id
WHERE i.user_id = ANY ($1::bigint[])
ORDER BY n.namespace_id
FOR SHARE OF n;

-- name: share_hosts
-- The hosts of some systems, so that their privacy stays as it is; who is being changed now is left out.
SELECT a.account_id FROM accounts a
WHERE a.account_id IN (SELECT h.account_id FROM message_proxy_namespace_accounts h
                       WHERE h.namespace_id = ANY ($1::bigint[]))
ORDER BY a.account_id
FOR SHARE SKIP LOCKED;

-- name: count_hosts
-- How many hosts some systems have.
SELECT count(DISTINCT account_id) FROM message_proxy_namespace_accounts WHERE namespace_id = ANY ($1::bigint[]);

-- name: related
-- Whether two users share a system: two members of it, or a member and the person behind a host.
SELECT EXISTS (
    SELECT FROM message_proxy_identities one
    WHERE one.user_id = $1 AND (
        EXISTS (SELECT FROM message_proxy_identities other
                WHERE other.namespace_id = one.namespace_id AND other.user_id = $2)
        OR EXISTS (SELECT FROM message_proxy_namespace_accounts h JOIN accounts a USING (account_id)
                   WHERE h.namespace_id = one.namespace_id AND a.user_id = $2)));

-- name: sweep
-- Forget what is too old: originals after minutes, the index and channels after days.
WITH originals AS (DELETE FROM message_proxy_expectations WHERE occurred_at < $1),
     channels AS (DELETE FROM message_proxy_channels WHERE greatest(seen_at, expected_at) < $2)
DELETE FROM message_proxy_message_index WHERE created_at < $2;

-- name: forget_message
-- A message that was deleted is not looked up any more.
DELETE FROM message_proxy_message_index WHERE platform = $1 AND message_id = $2;

-- name: hosts_of
-- The hosts of an identity.
SELECT array_agg(h.account_id ORDER BY h.account_id) FROM message_proxy_namespace_accounts h
JOIN message_proxy_identities i USING (namespace_id)
WHERE i.user_id = $1;

-- name: erase_account
-- Everything about an account: what it uses, what was expected of it, what it said for whom, whose host it was.
WITH chosen AS (DELETE FROM message_proxy_choices WHERE account_id = $1 RETURNING 1),
     expected AS (DELETE FROM message_proxy_expectations WHERE account_id = $1 RETURNING 1),
     said AS (DELETE FROM message_proxy_message_index WHERE account_id = $1 RETURNING 1),
     places AS (DELETE FROM message_proxy_identity_servers WHERE account_id = $1),
     hosted AS (DELETE FROM message_proxy_namespace_accounts WHERE account_id = $1 RETURNING 1)
SELECT (SELECT count(*) FROM chosen) AS proxy_choices, (SELECT count(*) FROM said) AS proxied_messages,
       (SELECT count(*) FROM hosted) AS hosted_systems, (SELECT count(*) FROM expected) AS expected;

-- name: lock_systems_of
-- The systems that an account is a host of, against writes about their members.
SELECT n.namespace_id FROM message_proxy_namespaces n
JOIN message_proxy_namespace_accounts a USING (namespace_id)
WHERE a.account_id = $1
ORDER BY n.namespace_id
FOR NO KEY UPDATE OF n;

-- name: export_choices
-- What an account uses, since when.
SELECT i.name AS instance, i.service, c.chosen_at FROM message_proxy_choices c
JOIN message_proxy_instances i USING (instance_id)
WHERE c.account_id = $1
ORDER BY i.name;

-- name: known_sender
-- The account of a sender and the system that it speaks for, where both are known and it is not yet a host of it.
SELECT a.account_id, n.namespace_id FROM accounts a, message_proxy_namespaces n
WHERE a.platform = $1 AND a.external_id = $2 AND a.kind = ANY ($3::text[])
  AND n.instance_id = $4 AND n.namespace_key = $5
  AND NOT EXISTS (SELECT FROM message_proxy_namespace_accounts h
                  WHERE h.namespace_id = n.namespace_id AND h.account_id = a.account_id);

-- name: hosts_to_check
-- Hosts whose system was not asked for since a moment, those that wait longest first.
SELECT DISTINCT ON (h.account_id, n.instance_id) h.account_id, n.instance_id, a.external_id, h.checked_at
FROM message_proxy_namespace_accounts h
JOIN message_proxy_namespaces n USING (namespace_id)
JOIN accounts a USING (account_id)
WHERE h.checked_at < $1 AND n.instance_id = ANY ($2::bigint[])
ORDER BY h.account_id, n.instance_id, h.checked_at
LIMIT $3;

-- name: note_place
-- An identity has spoken in a server, and which account answered for it.
INSERT INTO message_proxy_identity_servers (server_id, user_id, account_id, seen_at)
SELECT s.server_id, $3, $4, $5 FROM servers s WHERE s.platform = $1 AND s.external_id = $2
ON CONFLICT (server_id, user_id) DO UPDATE SET account_id = excluded.account_id, seen_at = excluded.seen_at;

-- name: identities_here
-- The identities that have spoken in a server, the latest first, with the accounts that answered for them.
SELECT i.user_id, i.name, i.pronouns, n.name AS system, s.name AS instance, x.external_key,
       a.kind AS account_kind, a.external_id AS account_external_id,
       (SELECT array_agg(h.account_id ORDER BY h.account_id) FROM message_proxy_namespace_accounts h
        WHERE h.namespace_id = i.namespace_id) AS hosts
FROM message_proxy_identity_servers p
JOIN message_proxy_identities i ON i.user_id = p.user_id
JOIN external_identities x ON x.user_id = i.user_id
JOIN message_proxy_namespaces n ON n.namespace_id = i.namespace_id
JOIN message_proxy_instances s ON s.instance_id = n.instance_id
JOIN accounts a ON a.account_id = p.account_id
WHERE p.server_id = $1
ORDER BY p.seen_at DESC, i.user_id
LIMIT $2;

-- name: servers
-- The servers in which an identity has spoken.
SELECT DISTINCT server_id FROM message_proxy_identity_servers;

-- name: keep_user
-- The user row of an identity, which is not forgotten before the transaction ends; none when it was.
SELECT user_id FROM users WHERE user_id = $1 FOR KEY SHARE;
