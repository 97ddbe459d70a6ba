-- Accounts of one person on several platforms, linked by that person.

ALTER TABLE accounts ADD COLUMN linked_at timestamptz;
COMMENT ON COLUMN accounts.linked_at IS 'Since when the account shares its user row with others; null: it does not.';

CREATE TABLE link_requests (
    account_id        bigint PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
    code_digest       bytea,
    other_account_id  bigint REFERENCES accounts ON DELETE CASCADE,
    is_shown          boolean NOT NULL DEFAULT false,
    expires_at        timestamptz NOT NULL,
    CHECK ((code_digest IS NULL) = (other_account_id IS NOT NULL))
);
CREATE INDEX link_requests_other ON link_requests (other_account_id);
COMMENT ON TABLE link_requests IS 'Who wants to be linked: with a code until another account has entered it, then with that account.';
COMMENT ON COLUMN link_requests.code_digest IS 'Digest of the code, which itself is not kept; gone once it was used.';
COMMENT ON COLUMN link_requests.is_shown IS 'Whether the account was told who asks: only then can it confirm.';

CREATE TABLE link_tries (
    account_id  bigint REFERENCES accounts ON DELETE SET NULL,
    kind        text NOT NULL CHECK (kind IN ('asked', 'wrong')),
    tried_at    timestamptz NOT NULL
);
CREATE INDEX link_tries_age ON link_tries (tried_at);
CREATE INDEX link_tries_account ON link_tries (account_id);
COMMENT ON TABLE link_tries IS 'Codes that were asked for, and wrong ones that were entered, as long as they count.';

CREATE TABLE user_moves (
    move_id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    from_user_id  bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    to_user_id    bigint REFERENCES users ON DELETE CASCADE,
    going         bigint[] NOT NULL,
    staying       bigint[] NOT NULL,
    is_whole      boolean NOT NULL,
    moved_at      timestamptz NOT NULL,
    plugins       text[] NOT NULL
);
CREATE INDEX user_moves_from ON user_moves (from_user_id);
CREATE INDEX user_moves_to ON user_moves (to_user_id);
COMMENT ON TABLE user_moves IS 'What went from one user row to another, when accounts were linked or unlinked.';
COMMENT ON COLUMN user_moves.plugins IS 'Those that have done their part; one that was switched off does it when it comes back.';

ALTER TABLE audit_trail DROP CONSTRAINT audit_trail_act_check;
ALTER TABLE audit_trail ADD CONSTRAINT audit_trail_act_check
    CHECK (act IN ('read', 'edited', 'deleted', 'exported', 'erased', 'linked', 'unlinked'));

-- Locks two people for a change as lock_person does one: all their accounts by ascending id, then their users; gives
-- the accounts as they are under the lock.
CREATE FUNCTION lock_people(p_accounts bigint[]) RETURNS TABLE (account_id bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_users bigint[];
BEGIN
    PERFORM 1 FROM accounts a
    WHERE a.account_id = ANY (p_accounts)
       OR a.user_id IN (SELECT x.user_id FROM accounts x WHERE x.account_id = ANY (p_accounts))
    ORDER BY a.account_id FOR NO KEY UPDATE;
    SELECT array_agg(DISTINCT a.user_id) INTO v_users FROM accounts a WHERE a.account_id = ANY (p_accounts);
    PERFORM 1 FROM users u WHERE u.user_id = ANY (v_users) ORDER BY u.user_id FOR NO KEY UPDATE;
    RETURN QUERY SELECT a.account_id FROM accounts a
    WHERE a.account_id = ANY (p_accounts) OR a.user_id = ANY (v_users)
    ORDER BY a.account_id FOR NO KEY UPDATE;
END $$;
