-- What people and servers decide about memory, confirmed by a code where it cannot be undone, and who looked at what is
-- about others.

CREATE TABLE confirmations (
    account_id   bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
    action       text NOT NULL,
    code_digest  bytea NOT NULL,
    attempts     smallint NOT NULL DEFAULT 0,
    expires_at   timestamptz NOT NULL,
    PRIMARY KEY (account_id, action)
);
COMMENT ON TABLE confirmations IS 'What somebody was asked back about; the code itself is not kept.';

CREATE TABLE audit_trail (
    audit_id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    happened_at         timestamptz NOT NULL,
    act                 text NOT NULL CHECK (act IN ('read', 'edited', 'deleted', 'exported', 'erased')),
    via                 text NOT NULL,
    by_operator         boolean NOT NULL,
    actor_account_id    bigint REFERENCES accounts ON DELETE SET NULL,
    subject_account_id  bigint REFERENCES accounts ON DELETE CASCADE,
    subject_user_id     bigint REFERENCES users ON DELETE CASCADE,
    server_id           bigint REFERENCES servers ON DELETE SET NULL,
    items               integer NOT NULL CHECK (items >= 0),
    CHECK (subject_account_id IS NOT NULL OR subject_user_id IS NOT NULL)
);
CREATE INDEX audit_trail_account ON audit_trail (subject_account_id);
CREATE INDEX audit_trail_user ON audit_trail (subject_user_id);
CREATE INDEX audit_trail_actor ON audit_trail (actor_account_id);
COMMENT ON TABLE audit_trail IS 'Append-only: who looked at or changed what is about somebody else; never what it said.';
COMMENT ON COLUMN audit_trail.actor_account_id IS 'Null for an operator, and for somebody who was forgotten since.';

-- Whether a server wants no personal memories; its key is that of agent/privacy/switches.py.
CREATE FUNCTION personal_memories_off(p_server bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM server_settings s
                   WHERE s.server_id = p_server AND s.key = 'privacy.personal_memories' AND s.value = 'false')
$$;

-- The two functions also tell whether the server wants no personal memories; for the rest they are as they were.
DROP FUNCTION facts_for_write(bigint[], bigint[], bigint, bigint);
DROP FUNCTION facts_of_people(bigint[], bigint[], bigint);

-- What privacy, blacklist and the server say now about some accounts and about every account of some users.
CREATE FUNCTION facts_of_people(p_accounts bigint[], p_users bigint[], p_server bigint) RETURNS TABLE (
    account_id bigint, user_id bigint, privacy_level text, forgotten_before timestamptz, blacklisted boolean,
    personal_off boolean
) LANGUAGE sql STABLE AS $$
    SELECT a.account_id, a.user_id, a.privacy_level, a.forgotten_before,
           EXISTS (SELECT FROM server_blacklist b JOIN accounts x ON x.account_id = b.account_id
                   WHERE b.server_id = p_server AND (x.account_id = a.account_id OR x.user_id = a.user_id)),
           personal_memories_off(p_server)
    FROM accounts a
    WHERE a.account_id = ANY (p_accounts)
       OR a.user_id = ANY (p_users)
       OR a.user_id IN (SELECT x.user_id FROM accounts x WHERE x.account_id = ANY (p_accounts))
    ORDER BY a.account_id
$$;

-- Locks what a write of a memory rests on, and then reads it: the accounts whose privacy is consulted by ascending id,
-- the users, the server; the owner in the mode of whoever changes what it owns. A change of privacy, links, blacklist
-- or switches takes the same rows in the same order, so that what is read here stays true until the transaction ends.
CREATE FUNCTION facts_for_write(
    p_accounts bigint[], p_users bigint[], p_owner_user bigint, p_server bigint
) RETURNS TABLE (
    account_id bigint, user_id bigint, privacy_level text, forgotten_before timestamptz, blacklisted boolean,
    personal_off boolean
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_user bigint;
BEGIN
    PERFORM 1 FROM accounts a
    WHERE a.account_id = ANY (p_accounts) OR a.user_id = ANY (p_users)
    ORDER BY a.account_id FOR SHARE;
    FOR v_user IN SELECT DISTINCT u FROM unnest(p_users) u ORDER BY u LOOP
        IF v_user = p_owner_user THEN
            PERFORM 1 FROM users u WHERE u.user_id = v_user FOR NO KEY UPDATE;
        ELSE
            PERFORM 1 FROM users u WHERE u.user_id = v_user FOR SHARE;
        END IF;
    END LOOP;
    IF p_owner_user IS NULL THEN
        PERFORM 1 FROM servers s WHERE s.server_id = p_server FOR NO KEY UPDATE;
    ELSE
        PERFORM 1 FROM servers s WHERE s.server_id = p_server FOR SHARE;
    END IF;
    RETURN QUERY SELECT f.* FROM facts_of_people(p_accounts, p_users, p_server) f;
END $$;
