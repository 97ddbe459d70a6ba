-- name: withdraw
-- Inside the caller's transaction: takes back the notices about some memories, accounts or users. What waits is
-- cancelled; what stands on a platform gets a row whose effect is its deletion; what is being sent gets one when it is.
WITH marked AS (
    UPDATE outbox o
       SET withdrawn_at = $4, payload = NULL, about_memories = NULL, about_accounts = NULL, about_users = NULL,
           state = CASE o.state WHEN 'pending' THEN 'cancelled' ELSE o.state END,
           finished_at = CASE o.state WHEN 'pending' THEN $4 ELSE o.finished_at END,
           reason = CASE o.state WHEN 'pending' THEN 'withdrawn' ELSE o.reason END
     WHERE o.about_memories IS NOT NULL
       AND (o.about_memories && $1::bigint[] OR o.about_accounts && $2::bigint[] OR o.about_users && $3::bigint[])
    RETURNING o.outbox_id, o.platform, o.channel, o.message_id, o.state, o.finished_at
), added AS (
    INSERT INTO outbox (key, kind, platform, channel, state, worker, message_id, created_at)
    SELECT 'withdraw:' || outbox_id, 'withdraw', platform, channel, 'pending', 0, message_id, $4
      FROM marked WHERE state = 'sent' AND message_id IS NOT NULL
     ORDER BY outbox_id
    ON CONFLICT (key) DO NOTHING
)
SELECT count(*) FILTER (WHERE state = 'cancelled' AND finished_at = $4) AS cancelled,
       count(*) FILTER (WHERE state IN ('sent', 'sending')) AS posted,
       count(*) FILTER (WHERE state = 'unknown') AS unknown
  FROM marked;

-- name: holders
-- Who has withdrawals on some platforms that are due; 0 stands for nobody.
SELECT DISTINCT worker FROM outbox
 WHERE kind = 'withdraw' AND state = 'pending' AND platform = ANY ($1::text[])
   AND (not_before IS NULL OR not_before <= $2);

-- name: take
-- Takes withdrawals that are due, of this worker and of those that are gone, in order.
WITH due AS (
    SELECT outbox_id FROM outbox
     WHERE kind = 'withdraw' AND state = 'pending' AND platform = ANY ($1::text[]) AND worker = ANY ($2::bigint[])
       AND (not_before IS NULL OR not_before <= $3)
     ORDER BY outbox_id LIMIT $4
), taken AS (
    UPDATE outbox o SET worker = $5 FROM due WHERE o.outbox_id = due.outbox_id
    RETURNING o.outbox_id, o.platform, o.channel, o.message_id, o.attempts
)
SELECT outbox_id, platform, channel, message_id, attempts FROM taken ORDER BY outbox_id;

-- name: settle
-- Keeps what became of a withdrawal.
UPDATE outbox SET state = $2, reason = $3, finished_at = $4 WHERE outbox_id = $1 AND state = 'pending';

-- name: put_off
-- Has a withdrawal tried again later.
UPDATE outbox SET attempts = least(attempts + 1, 32000), not_before = $2, reason = $3
 WHERE outbox_id = $1 AND state = 'pending';
