-- Tables of the memory plugin. Moments always come from the caller: nothing here calls now().

CREATE SEQUENCE memory_ids;
COMMENT ON SEQUENCE memory_ids IS 'Ids of both kinds of memory: one id means one row, and none is used twice.';

-- What is remembered ----------------------------------------------------------------------------
-- There is no foreign key to persona_lineages: lineages are never deleted, and every save would lock the same row.

CREATE TABLE server_memories (
    server_memory_id            bigint PRIMARY KEY DEFAULT nextval('memory_ids'),
    server_id                   bigint NOT NULL REFERENCES servers ON DELETE CASCADE,
    persona_lineage_id          bigint NOT NULL CHECK (persona_lineage_id > 0),
    content                     text NOT NULL CHECK (content <> ''),
    content_key                 bytea NOT NULL,
    channel_disc_ids            text[] NOT NULL DEFAULT '{}',
    channel_scope_pending       boolean NOT NULL DEFAULT false,
    legacy_channel_scope_tags   text[] NOT NULL DEFAULT '{}',
    tags                        text[] NOT NULL DEFAULT '{}',
    subject_account_id          bigint REFERENCES accounts ON DELETE CASCADE,
    subject_user_id             bigint REFERENCES users ON DELETE SET NULL,
    audience                    text NOT NULL CHECK (audience IN ('open', 'server', 'channel', 'person')),
    manually_written            boolean NOT NULL DEFAULT false,
    origin                      text NOT NULL CHECK (origin IN ('model', 'command', 'import', 'bio', 'history')),
    source_platform             text NOT NULL,
    source_server_id            bigint REFERENCES servers ON DELETE SET NULL,
    source_channel_id           text,
    source_message_id           text,
    source_turn_id              text,
    source_tool                 text,
    author_account_id           bigint REFERENCES accounts ON DELETE SET NULL,
    last_reinforced_at          timestamptz,
    created_at                  timestamptz NOT NULL,
    updated_at                  timestamptz NOT NULL,
    version                     integer NOT NULL DEFAULT 1 CHECK (version > 0)
);
CREATE INDEX server_memories_owner ON server_memories (server_id, persona_lineage_id);
CREATE INDEX server_memories_key ON server_memories (content_key);
CREATE INDEX server_memories_subject_account ON server_memories (subject_account_id)
    WHERE subject_account_id IS NOT NULL;
CREATE INDEX server_memories_subject_user ON server_memories (subject_user_id) WHERE subject_user_id IS NOT NULL;
CREATE INDEX server_memories_author ON server_memories (author_account_id) WHERE author_account_id IS NOT NULL;
COMMENT ON COLUMN server_memories.content_key IS 'Digest of the folded content: equal for near-duplicates (rules.py).';
COMMENT ON COLUMN server_memories.channel_disc_ids IS 'Platform ids of the channels it applies in; empty: in all.';
COMMENT ON COLUMN server_memories.channel_scope_pending IS 'A scope by #name that is not yet resolved to ids.';

CREATE TABLE personal_memories (
    personal_memory_id          bigint PRIMARY KEY DEFAULT nextval('memory_ids'),
    user_id                     bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    persona_lineage_id          bigint NOT NULL CHECK (persona_lineage_id >= 0),
    content                     text NOT NULL CHECK (content <> ''),
    content_key                 bytea NOT NULL,
    tags                        text[] NOT NULL DEFAULT '{}',
    subject_account_id          bigint REFERENCES accounts ON DELETE SET NULL,
    subject_user_id             bigint REFERENCES users ON DELETE SET NULL,
    audience                    text NOT NULL CHECK (audience IN ('open', 'server', 'channel', 'person')),
    manually_written            boolean NOT NULL DEFAULT false,
    origin                      text NOT NULL CHECK (origin IN ('model', 'command', 'import', 'bio', 'history')),
    source_platform             text NOT NULL,
    source_server_id            bigint REFERENCES servers ON DELETE SET NULL,
    source_channel_id           text,
    source_message_id           text,
    source_turn_id              text,
    source_tool                 text,
    author_account_id           bigint REFERENCES accounts ON DELETE SET NULL,
    last_reinforced_at          timestamptz,
    created_at                  timestamptz NOT NULL,
    updated_at                  timestamptz NOT NULL,
    version                     integer NOT NULL DEFAULT 1 CHECK (version > 0)
);
CREATE INDEX personal_memories_owner ON personal_memories (user_id, persona_lineage_id);
CREATE INDEX personal_memories_key ON personal_memories (content_key);
CREATE INDEX personal_memories_subject_account ON personal_memories (subject_account_id)
    WHERE subject_account_id IS NOT NULL;
CREATE INDEX personal_memories_subject_user ON personal_memories (subject_user_id) WHERE subject_user_id IS NOT NULL;
CREATE INDEX personal_memories_source_server ON personal_memories (source_server_id)
    WHERE source_server_id IS NOT NULL;
CREATE INDEX personal_memories_author ON personal_memories (author_account_id) WHERE author_account_id IS NOT NULL;

-- What happened ---------------------------------------------------------------------------------

CREATE TABLE memory_events (
    memory_event_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    memory_id           bigint NOT NULL,
    scope               text NOT NULL CHECK (scope IN ('server', 'personal')),
    owner_id            bigint NOT NULL,
    persona_lineage_id  bigint NOT NULL,
    kind                text NOT NULL CHECK (kind IN (
                            'created', 'reinforced', 'updated', 'deleted', 'evicted', 'restored', 'erased')),
    actor_account_id    bigint REFERENCES accounts ON DELETE SET NULL,
    source_turn_id      text,
    source_tool         text,
    happened_at         timestamptz NOT NULL
);
CREATE INDEX memory_events_memory ON memory_events (memory_id);
CREATE INDEX memory_events_actor ON memory_events (actor_account_id, happened_at) WHERE actor_account_id IS NOT NULL;
COMMENT ON TABLE memory_events IS 'Append-only, and without any content, so that an erasure leaves nothing behind.';
COMMENT ON COLUMN memory_events.owner_id IS 'The server or the user, by scope.';

CREATE TABLE forgotten_memories (
    memory_id           bigint PRIMARY KEY,
    scope               text NOT NULL CHECK (scope IN ('server', 'personal')),
    server_id           bigint REFERENCES servers ON DELETE CASCADE,
    user_id             bigint REFERENCES users ON DELETE CASCADE,
    subject_account_id  bigint REFERENCES accounts ON DELETE CASCADE,
    subject_user_id     bigint REFERENCES users ON DELETE CASCADE,
    reason              text NOT NULL CHECK (reason IN ('evicted', 'deleted')),
    memory              jsonb NOT NULL,
    forgotten_at        timestamptz NOT NULL,
    CHECK ((scope = 'server') = (server_id IS NOT NULL) AND (scope = 'personal') = (user_id IS NOT NULL))
);
CREATE INDEX forgotten_memories_age ON forgotten_memories (forgotten_at);
CREATE INDEX forgotten_memories_server ON forgotten_memories (server_id);
CREATE INDEX forgotten_memories_user ON forgotten_memories (user_id);
CREATE INDEX forgotten_memories_subject_account ON forgotten_memories (subject_account_id);
CREATE INDEX forgotten_memories_subject_user ON forgotten_memories (subject_user_id);
COMMENT ON TABLE forgotten_memories IS 'Whole rows that an eviction or deletion removed: 24 hours, for undo.';
