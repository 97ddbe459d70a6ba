-- Tables of the lorebook plugin. Moments always come from the caller: nothing here calls now().
-- Whoever changes a lorebook holds its server's row; what is cached hangs on the revision of 'lorebooks:<server>'.

CREATE TABLE lorebooks (
    lorebook_id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    server_id           bigint NOT NULL REFERENCES servers ON DELETE CASCADE,
    name                text NOT NULL CHECK (name <> ''),
    description         text NOT NULL,
    enabled             boolean NOT NULL,
    persona_lineage_id  bigint,
    channel_ids         text[] NOT NULL,
    scan_depth          integer,
    token_budget        integer,
    recursive           boolean,
    extra               jsonb NOT NULL,
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL
);
CREATE UNIQUE INDEX lorebooks_name ON lorebooks (server_id, lower(name));
COMMENT ON COLUMN lorebooks.persona_lineage_id IS 'The lineage of the personas that know it; null: every persona.';
COMMENT ON COLUMN lorebooks.channel_ids IS 'The channels, with their threads, in which it applies; empty: all.';
COMMENT ON COLUMN lorebooks.extra IS 'What its file says beyond this, for the export.';

CREATE TABLE lorebook_entries (
    entry_id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    lorebook_id            bigint NOT NULL REFERENCES lorebooks ON DELETE CASCADE,
    uid                    integer NOT NULL,
    name                   text NOT NULL,
    content                text NOT NULL,
    keys                   text[] NOT NULL,
    secondary_keys         text[] NOT NULL,
    logic                  text NOT NULL CHECK (logic IN ('and_any', 'and_all', 'not_any', 'not_all')),
    selective              boolean NOT NULL,
    constant               boolean NOT NULL,
    enabled                boolean NOT NULL,
    insertion_order        integer NOT NULL,
    scan_depth             integer,
    whole_words            boolean,
    case_sensitive         boolean,
    probability            smallint NOT NULL CHECK (probability BETWEEN 0 AND 100),
    exclude_recursion      boolean NOT NULL,
    prevent_recursion      boolean NOT NULL,
    delay_until_recursion  boolean NOT NULL,
    extra                  jsonb NOT NULL,
    UNIQUE (lorebook_id, uid)
);
COMMENT ON COLUMN lorebook_entries.uid IS 'The number that its file gives it.';
COMMENT ON COLUMN lorebook_entries.keys IS 'Plain words, or /pattern/flags.';
