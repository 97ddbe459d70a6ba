-- Whom a memory is about, by any of their accounts, decides whether it may be shown to a model at all.
CREATE FUNCTION memory_is_private(p_account bigint, p_user bigint) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM accounts a
                    WHERE a.privacy_level <> 'none'
                      AND (a.account_id = p_account OR a.user_id = p_user
                           OR a.user_id = (SELECT x.user_id FROM accounts x WHERE x.account_id = p_account)))
$$;
COMMENT ON FUNCTION memory_is_private IS 'Whether an account of the person whom a memory is about has a privacy level that shows no memories.';
