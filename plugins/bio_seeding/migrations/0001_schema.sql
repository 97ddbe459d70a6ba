-- Tables of the bio_seeding plugin. Moments always come from the caller: nothing here calls now().

CREATE TABLE bio_seeding_key (
    only_one  boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    key       bytea NOT NULL
);
COMMENT ON TABLE bio_seeding_key IS 'The key of the digests below, made when the first one is needed.';

CREATE TABLE bio_seeds (
    identity    bytea NOT NULL,
    what        text NOT NULL CHECK (what IN ('bio', 'pronouns')),
    written_at  timestamptz NOT NULL,
    PRIMARY KEY (identity, what)
);
COMMENT ON TABLE bio_seeds IS 'What was once taken over from a profile, by a keyed digest of whose: it stays when they are forgotten, so that it does not come back.';
