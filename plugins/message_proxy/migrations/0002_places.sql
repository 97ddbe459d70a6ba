-- Where identities have spoken: only there they are found by name.
CREATE TABLE message_proxy_identity_servers (
    server_id   bigint NOT NULL REFERENCES servers ON DELETE CASCADE,
    user_id     bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    account_id  bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
    seen_at     timestamptz NOT NULL,
    PRIMARY KEY (server_id, user_id)
);
CREATE INDEX message_proxy_identity_servers_user ON message_proxy_identity_servers (user_id);
CREATE INDEX message_proxy_identity_servers_account ON message_proxy_identity_servers (account_id);
COMMENT ON COLUMN message_proxy_identity_servers.account_id IS 'The account that answered for it there last.';
