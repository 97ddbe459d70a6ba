-- What must be one round trip, or must read what was committed while it waited for a lock: each statement of a
-- function in plpgsql sees what is committed when that statement begins. Moments come from the caller.

-- Registers server, channel, account and names of one message, and tells what counts for it now. Where nothing has
-- changed this is one SELECT that writes nothing. Locks in the order of every write: account, user, server.
CREATE FUNCTION enter_place(
    p_platform text, p_server text, p_server_kind text, p_server_name text,
    p_channel text, p_channel_name text, p_visibility text, p_parent text, p_parent_name text,
    p_kind text, p_account text, p_owns_memories boolean,
    p_label text, p_label_normalised text, p_username text, p_username_normalised text,
    p_now timestamptz,
    OUT server_id bigint, OUT channel_id bigint, OUT account_id bigint, OUT user_id bigint, OUT username text,
    OUT privacy_level text, OUT forgotten_before timestamptz, OUT blacklisted boolean, OUT is_new boolean,
    OUT revision bigint
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_same boolean;
    v_server bigint;
    v_channel bigint;
    v_account bigint;
    v_user bigint;
BEGIN
    is_new := false;
    SELECT s.server_id, c.channel_id, a.account_id,
           s.name = p_server_name AND s.kind = p_server_kind AND s.purge_after IS NULL
           AND c.server_id = s.server_id AND c.name = p_channel_name AND c.visibility = p_visibility
           AND c.parent_external_id IS NOT DISTINCT FROM p_parent
           AND c.parent_name IS NOT DISTINCT FROM p_parent_name
           AND (a.user_id IS NOT NULL OR NOT p_owns_memories)
           AND a.last_seen_at > p_now - interval '1 hour'
           AND g.value = p_label
           AND (p_username IS NULL OR (a.username = p_username AND u.value = p_username))
    INTO v_server, v_channel, v_account, v_same
    FROM servers s
    JOIN channels c ON c.platform = p_platform AND c.external_id = p_channel
    JOIN accounts a ON a.external_id = p_account AND a.platform = p_platform AND a.kind = p_kind
    LEFT JOIN names g ON g.server_id = s.server_id AND g.account_id = a.account_id AND g.source = 'guild'
    LEFT JOIN names u ON u.server_id = s.server_id AND u.account_id = a.account_id AND u.source = 'username'
    WHERE s.platform = p_platform AND s.external_id = p_server;

    IF v_same IS NOT TRUE THEN
        SELECT r.* INTO v_account, v_user, is_new
        FROM register_account(p_platform, p_server, p_kind, p_account, p_owns_memories, p_label, p_username, p_now) r;
        SELECT r.* INTO v_server, v_channel
        FROM register_channel(p_platform, p_server, p_server_kind, p_server_name,
                              p_channel, p_channel_name, p_visibility, p_parent, p_parent_name, p_now) r;
        PERFORM register_name(v_server, v_account, v_user, 'guild', p_label, p_label_normalised, p_now);
        IF p_username IS NOT NULL THEN
            PERFORM register_name(v_server, v_account, v_user, 'username', p_username, p_username_normalised, p_now);
        END IF;
    END IF;

    SELECT v_server, v_channel, a.account_id, a.user_id, a.username, a.privacy_level, a.forgotten_before,
           EXISTS (SELECT FROM server_blacklist b JOIN accounts x ON x.account_id = b.account_id
                   WHERE b.server_id = v_server AND (x.account_id = a.account_id OR x.user_id = a.user_id)),
           coalesce((SELECT r.revision FROM owner_revisions r WHERE r.owner = 'server:' || v_server), 0)
    INTO server_id, channel_id, account_id, user_id, username, privacy_level, forgotten_before, blacklisted, revision
    FROM accounts a
    WHERE a.account_id = v_account;
END $$;

-- The account of a message, with the user row that lets it own memories.
CREATE FUNCTION register_account(
    p_platform text, p_server text, p_kind text, p_account text, p_owns_memories boolean,
    p_label text, p_username text, p_now timestamptz,
    OUT account_id bigint, OUT user_id bigint, OUT is_new boolean
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    is_new := false;
    SELECT a.account_id, a.user_id INTO account_id, user_id
    FROM accounts a
    WHERE a.external_id = p_account AND a.platform = p_platform AND a.kind = p_kind
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        INSERT INTO accounts (platform, external_id, kind, username, display_name, created_at, last_seen_at)
        VALUES (p_platform, p_account, p_kind, p_username, p_label, p_now, p_now)
        ON CONFLICT DO NOTHING;
        is_new := FOUND;
        SELECT a.account_id, a.user_id INTO STRICT account_id, user_id
        FROM accounts a
        WHERE a.external_id = p_account AND a.platform = p_platform AND a.kind = p_kind
        FOR NO KEY UPDATE;
    END IF;
    IF user_id IS NULL AND p_owns_memories THEN
        INSERT INTO users (kind, created_at) VALUES ('account', p_now) RETURNING users.user_id INTO user_id;
    END IF;
    -- The name shown here counts elsewhere only when it has just changed, or two servers would take turns writing it.
    UPDATE accounts a
    SET user_id = register_account.user_id,
        username = coalesce(p_username, a.username),
        last_seen_at = greatest(a.last_seen_at, p_now),
        display_name = CASE WHEN EXISTS (
            SELECT FROM names n JOIN servers s ON s.server_id = n.server_id
            WHERE s.platform = p_platform AND s.external_id = p_server
              AND n.account_id = a.account_id AND n.source = 'guild' AND n.value = p_label
        ) THEN a.display_name ELSE p_label END
    WHERE a.account_id = register_account.account_id
      AND (NOT is_new OR a.user_id IS DISTINCT FROM register_account.user_id);
END $$;

-- The server and channel of a message; a new server gets its default persona, on the lineage that all of them share.
CREATE FUNCTION register_channel(
    p_platform text, p_server text, p_server_kind text, p_server_name text,
    p_channel text, p_channel_name text, p_visibility text, p_parent text, p_parent_name text, p_now timestamptz,
    OUT server_id bigint, OUT channel_id bigint
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    SELECT s.server_id INTO server_id FROM servers s WHERE s.platform = p_platform AND s.external_id = p_server;
    IF NOT FOUND THEN
        INSERT INTO servers (platform, external_id, kind, name, created_at)
        VALUES (p_platform, p_server, p_server_kind, p_server_name, p_now)
        ON CONFLICT DO NOTHING;
        SELECT s.server_id INTO STRICT server_id
        FROM servers s WHERE s.platform = p_platform AND s.external_id = p_server;
    END IF;
    UPDATE servers s SET name = p_server_name, kind = p_server_kind, purge_after = NULL
    WHERE s.server_id = register_channel.server_id
      AND (s.name <> p_server_name OR s.kind <> p_server_kind OR s.purge_after IS NOT NULL);
    IF FOUND THEN
        PERFORM raise_revision('server:' || register_channel.server_id);
    END IF;

    SELECT c.channel_id INTO channel_id FROM channels c WHERE c.platform = p_platform AND c.external_id = p_channel;
    IF NOT FOUND THEN
        INSERT INTO channels (server_id, platform, external_id, name, visibility, parent_external_id, parent_name,
                              created_at)
        VALUES (register_channel.server_id, p_platform, p_channel, p_channel_name, p_visibility, p_parent,
                p_parent_name, p_now)
        ON CONFLICT DO NOTHING;
        SELECT c.channel_id INTO STRICT channel_id
        FROM channels c WHERE c.platform = p_platform AND c.external_id = p_channel;
    END IF;
    UPDATE channels c
    SET server_id = register_channel.server_id, name = p_channel_name, visibility = p_visibility,
        parent_external_id = p_parent, parent_name = p_parent_name
    WHERE c.channel_id = register_channel.channel_id
      AND (c.server_id, c.name, c.visibility, c.parent_external_id, c.parent_name)
          IS DISTINCT FROM (register_channel.server_id, p_channel_name, p_visibility, p_parent, p_parent_name);

    IF NOT EXISTS (SELECT FROM personas p WHERE p.server_id = register_channel.server_id AND p.is_default) THEN
        INSERT INTO personas (server_id, persona_lineage_id, is_default, created_at)
        VALUES (register_channel.server_id, 1, true, p_now)
        ON CONFLICT DO NOTHING;
    END IF;
END $$;

-- One name of somebody in a server. A new name of somebody known makes stale what was rendered with the old one.
CREATE FUNCTION register_name(
    p_server bigint, p_account bigint, p_user bigint, p_source text, p_value text, p_normalised text, p_now timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO names (account_id, server_id, source, value, normalised, seen_at)
    VALUES (p_account, p_server, p_source, p_value, p_normalised, p_now)
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        RETURN;
    END IF;
    UPDATE names n SET value = p_value, normalised = p_normalised, seen_at = p_now
    WHERE n.server_id = p_server AND n.account_id = p_account AND n.source = p_source
      AND (n.value <> p_value OR n.normalised <> p_normalised);
    IF FOUND THEN
        PERFORM raise_revision('server:' || p_server);
        IF p_user IS NOT NULL THEN
            PERFORM raise_revision('user:' || p_user);
        END IF;
    END IF;
END $$;

-- What is cached of an owner is stale from the commit on.
CREATE FUNCTION raise_revision(p_owner text) RETURNS void LANGUAGE sql AS $$
    INSERT INTO owner_revisions (owner, revision) VALUES (p_owner, 1)
    ON CONFLICT (owner) DO UPDATE SET revision = owner_revisions.revision + 1
$$;

-- Locks what a write of a memory rests on, and then reads it: the accounts whose privacy is consulted by ascending id,
-- the users, the server; the owner in the mode of whoever changes what it owns. A change of privacy, links or blacklist
-- takes the same rows in the same order, so that what is read here stays true until the transaction ends. Planning for
-- each call, which arrays bring about, would cost more than the whole function.
CREATE FUNCTION facts_for_write(
    p_accounts bigint[], p_users bigint[], p_owner_user bigint, p_server bigint
) RETURNS TABLE (
    account_id bigint, user_id bigint, privacy_level text, forgotten_before timestamptz, blacklisted boolean
) LANGUAGE plpgsql SET plan_cache_mode = 'force_generic_plan' AS $$
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

-- What privacy and blacklist say now about some accounts and about every account of some users.
CREATE FUNCTION facts_of_people(p_accounts bigint[], p_users bigint[], p_server bigint) RETURNS TABLE (
    account_id bigint, user_id bigint, privacy_level text, forgotten_before timestamptz, blacklisted boolean
) LANGUAGE sql STABLE AS $$
    SELECT a.account_id, a.user_id, a.privacy_level, a.forgotten_before,
           EXISTS (SELECT FROM server_blacklist b JOIN accounts x ON x.account_id = b.account_id
                   WHERE b.server_id = p_server AND (x.account_id = a.account_id OR x.user_id = a.user_id))
    FROM accounts a
    WHERE a.account_id = ANY (p_accounts)
       OR a.user_id = ANY (p_users)
       OR a.user_id IN (SELECT x.user_id FROM accounts x WHERE x.account_id = ANY (p_accounts))
    ORDER BY a.account_id
$$;

-- Locks one person for a change: every linked account by ascending id, then the user; gives the accounts as they are
-- under the lock. An account that was linked meanwhile is found by the second look, and its linking has ended then.
CREATE FUNCTION lock_person(p_account bigint) RETURNS TABLE (account_id bigint, user_id bigint, privacy_level text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_user bigint;
BEGIN
    PERFORM 1 FROM accounts a
    WHERE a.account_id = p_account
       OR a.user_id = (SELECT x.user_id FROM accounts x WHERE x.account_id = p_account)
    ORDER BY a.account_id FOR NO KEY UPDATE;
    SELECT a.user_id INTO v_user FROM accounts a WHERE a.account_id = p_account;
    PERFORM 1 FROM users u WHERE u.user_id = v_user FOR NO KEY UPDATE;
    RETURN QUERY SELECT a.account_id, a.user_id, a.privacy_level FROM accounts a
    WHERE a.account_id = p_account OR a.user_id = v_user
    ORDER BY a.account_id FOR NO KEY UPDATE;
END $$;
