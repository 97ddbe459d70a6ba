-- Tables of the core. Moments always come from the caller: nothing here calls now().

-- Where things are said -------------------------------------------------------------------------

CREATE TABLE servers (
    server_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    platform     text NOT NULL,
    external_id  text NOT NULL,
    kind         text NOT NULL CHECK (kind IN ('guild', 'room', 'direct')),
    name         text NOT NULL,
    purge_after  timestamptz,
    created_at   timestamptz NOT NULL,
    UNIQUE (platform, external_id)
);
COMMENT ON COLUMN servers.purge_after IS 'Set when the agent leaves; its data goes then unless it returns.';

CREATE TABLE channels (
    channel_id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    server_id           bigint NOT NULL REFERENCES servers ON DELETE CASCADE,
    platform            text NOT NULL,
    external_id         text NOT NULL,
    name                text NOT NULL,
    visibility          text NOT NULL CHECK (visibility IN ('everyone', 'restricted', 'direct', 'unknown')),
    parent_external_id  text,
    parent_name         text,
    created_at          timestamptz NOT NULL,
    UNIQUE (platform, external_id)
);
CREATE INDEX channels_server ON channels (server_id);

-- Who people are --------------------------------------------------------------------------------

CREATE TABLE users (
    user_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind        text NOT NULL CHECK (kind IN ('account', 'synthetic')),
    created_at  timestamptz NOT NULL
);
COMMENT ON TABLE users IS 'Who can own personal memories; a proxied identity has a synthetic row.';

CREATE TABLE accounts (
    account_id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    platform          text NOT NULL,
    external_id       text NOT NULL,
    kind              text NOT NULL,
    user_id           bigint REFERENCES users ON DELETE SET NULL,
    username          text,
    display_name      text NOT NULL,
    privacy_level     text NOT NULL DEFAULT 'none' CHECK (privacy_level IN ('none', 'partial', 'full')),
    forgotten_before  timestamptz,
    disclosed_at      timestamptz,
    created_at        timestamptz NOT NULL,
    last_seen_at      timestamptz NOT NULL,
    UNIQUE (external_id, platform, kind)
);
CREATE INDEX accounts_user ON accounts (user_id);
COMMENT ON COLUMN accounts.kind IS 'With external_id the key of a participant: the same digits of two kinds never collide.';
COMMENT ON COLUMN accounts.display_name IS 'The last name seen anywhere; what a server shows is in names. Empty after an erasure.';
COMMENT ON COLUMN accounts.disclosed_at IS 'When the person was told, once, that the agent remembers.';
COMMENT ON COLUMN accounts.forgotten_before IS 'Nothing whose source is older may be kept.';

CREATE TABLE names (
    account_id  bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
    server_id   bigint NOT NULL REFERENCES servers ON DELETE CASCADE,
    source      text NOT NULL,
    value       text NOT NULL,
    normalised  text NOT NULL,
    seen_at     timestamptz NOT NULL,
    PRIMARY KEY (server_id, account_id, source)
);
CREATE INDEX names_normalised ON names (server_id, normalised);
CREATE INDEX names_account ON names (account_id);
COMMENT ON TABLE names IS 'What somebody is called in a server, by source: guild, nickname, global, username.';

CREATE TABLE persona_lineages (
    persona_lineage_id  bigint PRIMARY KEY,
    created_at          timestamptz NOT NULL
);
CREATE SEQUENCE persona_lineage_ids START 2 OWNED BY persona_lineages.persona_lineage_id;
INSERT INTO persona_lineages VALUES (0, 'epoch'), (1, 'epoch');

CREATE TABLE personas (
    persona_id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    server_id           bigint NOT NULL REFERENCES servers ON DELETE CASCADE,
    persona_lineage_id  bigint NOT NULL REFERENCES persona_lineages CHECK (persona_lineage_id <> 0),
    nickname            text CHECK (nickname <> ''),
    prompt              text,
    avatar              text,
    triggers            text[],
    is_default          boolean NOT NULL DEFAULT false,
    created_at          timestamptz NOT NULL,
    CHECK (is_default OR (nickname IS NOT NULL AND prompt IS NOT NULL AND triggers IS NOT NULL))
);
COMMENT ON TABLE personas IS 'Characters of a server. What is null in a default persona is as the deployment has set it.';
CREATE UNIQUE INDEX personas_default ON personas (server_id) WHERE is_default;
CREATE UNIQUE INDEX personas_nickname ON personas (server_id, lower(nickname));

-- What is set, and who is left alone ------------------------------------------------------------

CREATE TABLE server_settings (
    server_id  bigint NOT NULL REFERENCES servers ON DELETE CASCADE,
    key        text NOT NULL,
    value      jsonb NOT NULL,
    PRIMARY KEY (server_id, key)
);

CREATE TABLE account_settings (
    account_id  bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
    key         text NOT NULL,
    value       jsonb NOT NULL,
    PRIMARY KEY (account_id, key)
);

CREATE TABLE server_blacklist (
    server_id   bigint NOT NULL REFERENCES servers ON DELETE CASCADE,
    account_id  bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (server_id, account_id)
);
CREATE INDEX server_blacklist_account ON server_blacklist (account_id);

-- Once only -------------------------------------------------------------------------------------

CREATE TABLE inbound_events (
    platform      text NOT NULL,
    event_id      text NOT NULL,
    state         text NOT NULL CHECK (state IN ('received', 'running', 'answered', 'ignored', 'abandoned')),
    attempts      smallint NOT NULL DEFAULT 0,
    worker        bigint NOT NULL,
    conversation  text NOT NULL,
    payload       jsonb,
    held_until    timestamptz,
    received_at   timestamptz NOT NULL,
    finished_at   timestamptz,
    PRIMARY KEY (platform, event_id)
);
CREATE INDEX inbound_unfinished ON inbound_events (received_at) WHERE state IN ('received', 'running');
CREATE INDEX inbound_received ON inbound_events (received_at);
COMMENT ON COLUMN inbound_events.payload IS 'The event while it is unfinished; null afterwards: no text is kept here.';
COMMENT ON COLUMN inbound_events.worker IS 'The process that has it; alive while it holds the advisory lock of that number.';

CREATE TABLE turn_checkpoints (
    platform  text NOT NULL,
    event_id  text NOT NULL,
    position  integer NOT NULL,
    messages  jsonb NOT NULL,
    PRIMARY KEY (platform, event_id, position),
    FOREIGN KEY (platform, event_id) REFERENCES inbound_events ON DELETE CASCADE
);
COMMENT ON TABLE turn_checkpoints IS 'Messages of the loop up to a call that took effect; gone when the turn ends.';

CREATE TABLE outbox (
    outbox_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key          text NOT NULL UNIQUE,
    platform     text NOT NULL,
    event_id     text,
    channel      text NOT NULL,
    state        text NOT NULL CHECK (state IN ('pending', 'sending', 'sent', 'unknown', 'failed', 'cancelled')),
    worker       bigint NOT NULL,
    attempts     smallint NOT NULL DEFAULT 0,
    payload      jsonb,
    message_id   text,
    reason       text,
    created_at   timestamptz NOT NULL,
    finished_at  timestamptz
);
CREATE INDEX outbox_unsent ON outbox (platform, outbox_id) WHERE state IN ('pending', 'sending');
CREATE INDEX outbox_created ON outbox (created_at);
COMMENT ON COLUMN outbox.payload IS 'What is to be posted; null once it is sent: no text is kept here.';

CREATE TABLE messages (
    platform    text NOT NULL,
    message_id  text NOT NULL,
    channel_id  bigint NOT NULL REFERENCES channels ON DELETE CASCADE,
    account_id  bigint REFERENCES accounts ON DELETE SET NULL,
    user_id     bigint REFERENCES users ON DELETE SET NULL,
    persona_id  bigint REFERENCES personas ON DELETE SET NULL,
    webhook_id  text,
    event_id    text,
    part        smallint NOT NULL DEFAULT 0,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (platform, message_id)
);
CREATE INDEX messages_created ON messages (created_at);
CREATE INDEX messages_event ON messages (platform, event_id);
CREATE INDEX messages_account ON messages (account_id);
CREATE INDEX messages_channel ON messages (channel_id);
COMMENT ON TABLE messages IS 'Who said which message, without its text; 30 days.';

-- Caches and counters ---------------------------------------------------------------------------

CREATE TABLE owner_revisions (
    owner     text PRIMARY KEY,
    revision  bigint NOT NULL
);
COMMENT ON TABLE owner_revisions IS 'Raised in the transaction that changes the owner; what a cache holds is true for one revision.';

CREATE TABLE usage_counters (
    server_id      bigint NOT NULL REFERENCES servers ON DELETE CASCADE,
    day            date NOT NULL,
    model          text NOT NULL,
    requests       bigint NOT NULL DEFAULT 0,
    input_tokens   bigint NOT NULL DEFAULT 0,
    output_tokens  bigint NOT NULL DEFAULT 0,
    cost_micros    bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (server_id, day, model)
);
COMMENT ON COLUMN usage_counters.cost_micros IS 'Millionths of the currency in which the operator gave the prices.';
