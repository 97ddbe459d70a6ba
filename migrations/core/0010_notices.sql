-- Notices that can be taken back: whom each is about, and rows whose effect is a change of a message that was sent.

ALTER TABLE outbox
    DROP CONSTRAINT outbox_state_check,
    ADD CONSTRAINT outbox_state_check
        CHECK (state IN ('pending', 'sending', 'sent', 'unknown', 'failed', 'cancelled', 'unsupported')),
    ADD COLUMN kind text NOT NULL DEFAULT 'post' CHECK (kind IN ('post', 'edit', 'withdraw')),
    ADD COLUMN about_memories bigint[],
    ADD COLUMN about_accounts bigint[],
    ADD COLUMN about_users bigint[],
    ADD COLUMN withdrawn_at timestamptz,
    ADD COLUMN not_before timestamptz;
CREATE INDEX outbox_notices ON outbox (outbox_id) WHERE about_memories IS NOT NULL;
CREATE INDEX outbox_withdrawals ON outbox (platform, outbox_id) WHERE kind = 'withdraw' AND state = 'pending';
COMMENT ON COLUMN outbox.kind IS 'post: a new message; edit: another text for message_id; withdraw: message_id is to go.';
COMMENT ON COLUMN outbox.about_memories IS 'Of a notice, with about_accounts and about_users; kept until it is withdrawn.';
COMMENT ON COLUMN outbox.withdrawn_at IS 'What is being sent at that moment goes again as soon as its id is known.';
