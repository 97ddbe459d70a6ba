-- Receipts of erasures, and a quick way to those who hide.

CREATE TABLE erasures (
    erasure_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id  bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
    erased_at   timestamptz NOT NULL,
    counts      jsonb NOT NULL,
    plugins     text[] NOT NULL
);
CREATE INDEX erasures_account ON erasures (account_id);
COMMENT ON TABLE erasures IS 'What an erasure removed: counts and the time, never content.';
COMMENT ON COLUMN erasures.plugins IS 'Those that have done their part; one that was switched off does it when it comes back.';

CREATE INDEX accounts_hidden ON accounts (account_id) WHERE privacy_level = 'full';
