-- The same locks and the same facts as before. Of a write that rests on nobody, no account and no user is looked for: that
-- cost half of what the whole function did.

CREATE OR REPLACE FUNCTION facts_for_write(
    p_accounts bigint[], p_users bigint[], p_owner_user bigint, p_server bigint
) RETURNS TABLE (
    account_id bigint, user_id bigint, privacy_level text, forgotten_before timestamptz, blacklisted boolean,
    personal_off boolean
) LANGUAGE plpgsql SET plan_cache_mode = 'force_generic_plan' AS $$
#variable_conflict use_column
DECLARE
    v_user       bigint;
    v_on_nobody  boolean := p_accounts = '{}' AND p_users = '{}';
BEGIN
    IF NOT v_on_nobody THEN
        PERFORM 1 FROM accounts a
        WHERE a.account_id = ANY (p_accounts) OR a.user_id = ANY (p_users)
        ORDER BY a.account_id FOR SHARE;
    END IF;
    IF p_users <> '{}' THEN
        FOR v_user IN SELECT DISTINCT u FROM unnest(p_users) u ORDER BY u LOOP
            IF v_user = p_owner_user THEN
                PERFORM 1 FROM users u WHERE u.user_id = v_user FOR NO KEY UPDATE;
            ELSE
                PERFORM 1 FROM users u WHERE u.user_id = v_user FOR SHARE;
            END IF;
        END LOOP;
    END IF;
    IF p_owner_user IS NULL THEN
        PERFORM 1 FROM servers s WHERE s.server_id = p_server FOR NO KEY UPDATE;
    ELSE
        PERFORM 1 FROM servers s WHERE s.server_id = p_server FOR SHARE;
    END IF;
    IF NOT v_on_nobody THEN
        RETURN QUERY SELECT f.* FROM facts_of_people(p_accounts, p_users, p_server) f;
    END IF;
END $$;
