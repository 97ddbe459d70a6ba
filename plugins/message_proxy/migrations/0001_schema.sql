-- Tables of the message_proxy plugin. Moments always come from the caller: nothing here calls now().

CREATE TABLE message_proxy_instances (
    instance_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name            text NOT NULL UNIQUE,
    service         text NOT NULL,
    application_id  text,
    learned_at      timestamptz
);
COMMENT ON TABLE message_proxy_instances IS 'Every instance that was ever used; one that was taken away keeps what it attested.';
COMMENT ON COLUMN message_proxy_instances.application_id IS 'Learned from a message that it attested.';

CREATE TABLE external_identities (
    kind          text NOT NULL,
    instance_id   bigint NOT NULL REFERENCES message_proxy_instances,
    external_key  text NOT NULL,
    user_id       bigint NOT NULL UNIQUE REFERENCES users ON DELETE CASCADE,
    PRIMARY KEY (kind, instance_id, external_key)
);
COMMENT ON TABLE external_identities IS 'Who has no account of their own: the user row that owns their memories.';

CREATE TABLE message_proxy_namespaces (
    namespace_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    instance_id    bigint NOT NULL REFERENCES message_proxy_instances,
    namespace_key  text NOT NULL,
    name           text NOT NULL DEFAULT '',
    UNIQUE (instance_id, namespace_key)
);
COMMENT ON TABLE message_proxy_namespaces IS 'Systems. Whoever writes about a member locks the row for sharing, whoever changes its hosts for a change.';

CREATE TABLE message_proxy_identities (
    user_id        bigint PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    namespace_id   bigint NOT NULL REFERENCES message_proxy_namespaces ON DELETE CASCADE,
    name           text NOT NULL,
    pronouns       text,
    first_seen_at  timestamptz NOT NULL,
    last_seen_at   timestamptz NOT NULL
);
CREATE INDEX message_proxy_identities_namespace ON message_proxy_identities (namespace_id);

CREATE TABLE message_proxy_namespace_accounts (
    namespace_id  bigint NOT NULL REFERENCES message_proxy_namespaces ON DELETE CASCADE,
    account_id    bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
    linked_at     timestamptz NOT NULL,
    checked_at    timestamptz NOT NULL,
    PRIMARY KEY (namespace_id, account_id)
);
CREATE INDEX message_proxy_namespace_accounts_account ON message_proxy_namespace_accounts (account_id);
COMMENT ON TABLE message_proxy_namespace_accounts IS 'Hosts: accounts that were attested as senders, or whose system is this one by its service''s word.';

CREATE TABLE message_proxy_message_index (
    platform    text NOT NULL,
    message_id  text NOT NULL,
    user_id     bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    account_id  bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
    original_id text NOT NULL,
    triggers    boolean NOT NULL,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (platform, message_id)
);
CREATE INDEX message_proxy_message_index_created ON message_proxy_message_index (created_at);
CREATE INDEX message_proxy_message_index_user ON message_proxy_message_index (user_id);
CREATE INDEX message_proxy_message_index_account ON message_proxy_message_index (account_id);

CREATE TABLE message_proxy_expectations (
    platform     text NOT NULL,
    message_id   text NOT NULL,
    instance_id  bigint NOT NULL REFERENCES message_proxy_instances,
    channel      text NOT NULL,
    account_id   bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
    sender_id    text NOT NULL,
    is_command   boolean NOT NULL,
    event        jsonb NOT NULL,
    occurred_at  timestamptz NOT NULL,
    claimed_by   text,
    PRIMARY KEY (platform, message_id, instance_id)
);
CREATE INDEX message_proxy_expectations_channel ON message_proxy_expectations (platform, channel, occurred_at);
CREATE INDEX message_proxy_expectations_account ON message_proxy_expectations (account_id);
CREATE INDEX message_proxy_expectations_occurred ON message_proxy_expectations (occurred_at);
COMMENT ON COLUMN message_proxy_expectations.event IS 'The original without its words; the row is gone within minutes.';
COMMENT ON COLUMN message_proxy_expectations.claimed_by IS 'The one message that took its place.';

CREATE TABLE message_proxy_choices (
    account_id   bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
    instance_id  bigint NOT NULL REFERENCES message_proxy_instances,
    chosen_at    timestamptz NOT NULL,
    PRIMARY KEY (account_id, instance_id)
);

CREATE TABLE message_proxy_channels (
    platform     text NOT NULL,
    channel      text NOT NULL,
    instance_id  bigint NOT NULL REFERENCES message_proxy_instances,
    seen_at      timestamptz,
    expected_at  timestamptz,
    PRIMARY KEY (platform, channel, instance_id)
);
COMMENT ON TABLE message_proxy_channels IS 'Where a service was seen, and where somebody who uses it has spoken: only there anything waits.';
