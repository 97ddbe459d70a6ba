-- Wishes that the next answer in a channel be in somebody's style. Short-lived: each is over when an answer has used it.

CREATE TABLE impersonations (
    channel_id  bigint PRIMARY KEY REFERENCES channels ON DELETE CASCADE,
    server_id   bigint NOT NULL REFERENCES servers ON DELETE CASCADE,
    account_id  bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
    asked_by    bigint REFERENCES accounts ON DELETE SET NULL,
    by_right    boolean NOT NULL,
    event_id    text,
    expires_at  timestamptz NOT NULL
);
CREATE INDEX impersonations_server ON impersonations (server_id);
CREATE INDEX impersonations_account ON impersonations (account_id);
CREATE INDEX impersonations_asked_by ON impersonations (asked_by);
COMMENT ON COLUMN impersonations.event_id IS 'The event whose answer uses it; null while it waits.';
COMMENT ON COLUMN impersonations.by_right IS 'Asked by somebody who manages the server, or by the person: no consent is needed.';
