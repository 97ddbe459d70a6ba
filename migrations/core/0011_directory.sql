-- The directory of a server as bridges tell of it: who is a member by which names, and what has changed since when.
--
-- A member of a server has a name of the source 'guild' there. Who leaves loses that row alone: the other names stay
-- for a return, and count for nothing until then.

CREATE TABLE directory_changes (
    server_id   bigint NOT NULL,
    account_id  bigint NOT NULL,
    revision    bigint NOT NULL,
    PRIMARY KEY (server_id, account_id)
);
CREATE INDEX directory_changes_revision ON directory_changes (server_id, revision);
COMMENT ON TABLE directory_changes IS
    'Whose names in a server changed last at which revision of the owner people:ID, those who left included.';

-- Notes whose names have changed. The rows of owner_revisions stay locked until the transaction ends, so revisions of a
-- server are committed in their order: who has read one has seen everything up to it.
CREATE FUNCTION note_people(p_servers bigint[], p_accounts bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF p_servers IS NULL THEN
        RETURN;
    END IF;
    INSERT INTO owner_revisions (owner, revision)
    SELECT 'people:' || s.server_id, 1 FROM (SELECT DISTINCT unnest(p_servers) AS server_id ORDER BY 1) s
    ON CONFLICT (owner) DO UPDATE SET revision = owner_revisions.revision + 1;
    INSERT INTO directory_changes (server_id, account_id, revision)
    SELECT c.server_id, c.account_id, r.revision
    FROM (SELECT DISTINCT * FROM unnest(p_servers, p_accounts) AS u (server_id, account_id)) c
    JOIN owner_revisions r ON r.owner = 'people:' || c.server_id
    ON CONFLICT (server_id, account_id) DO UPDATE SET revision = excluded.revision;
END $$;

CREATE FUNCTION names_came_or_went() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM note_people(array_agg(c.server_id), array_agg(c.account_id)) FROM changed c;
    RETURN NULL;
END $$;

CREATE FUNCTION names_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM note_people(array_agg(c.server_id), array_agg(c.account_id))
    FROM (
        (SELECT server_id, account_id, source, value, normalised FROM changed
         EXCEPT SELECT server_id, account_id, source, value, normalised FROM before)
        UNION ALL
        (SELECT server_id, account_id, source, value, normalised FROM before
         EXCEPT SELECT server_id, account_id, source, value, normalised FROM changed)
    ) c;
    RETURN NULL;
END $$;

CREATE TRIGGER names_came AFTER INSERT ON names
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION names_came_or_went();
CREATE TRIGGER names_went AFTER DELETE ON names
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION names_came_or_went();
CREATE TRIGGER names_changed AFTER UPDATE ON names
    REFERENCING OLD TABLE AS before NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION names_changed();

-- Whoever renames a server raises its revision before names are written, and a change of names raises both in this
-- order; so the people come first here too, or two of them would wait for each other.
CREATE FUNCTION people_before_server() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM raise_revision('people:' || NEW.server_id);
    RETURN NEW;
END $$;
CREATE TRIGGER servers_people_first BEFORE UPDATE OF name, kind, purge_after ON servers
    FOR EACH ROW EXECUTE FUNCTION people_before_server();

-- A server that the agent is in; it gets its default persona, and is not purged.
CREATE FUNCTION register_server(p_platform text, p_server text, p_kind text, p_name text, p_now timestamptz)
RETURNS bigint LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_server bigint;
BEGIN
    SELECT server_id INTO v_server FROM servers WHERE platform = p_platform AND external_id = p_server;
    IF NOT FOUND THEN
        INSERT INTO servers (platform, external_id, kind, name, created_at)
        VALUES (p_platform, p_server, p_kind, p_name, p_now)
        ON CONFLICT DO NOTHING;
        SELECT server_id INTO STRICT v_server FROM servers WHERE platform = p_platform AND external_id = p_server;
    END IF;
    UPDATE servers SET name = p_name, kind = p_kind, purge_after = NULL
    WHERE server_id = v_server AND (name <> p_name OR kind <> p_kind OR purge_after IS NOT NULL);
    IF FOUND THEN
        PERFORM raise_revision('server:' || v_server);
    END IF;
    IF NOT EXISTS (SELECT FROM personas p WHERE p.server_id = v_server AND p.is_default) THEN
        INSERT INTO personas (server_id, persona_lineage_id, is_default, created_at)
        VALUES (v_server, 1, true, p_now)
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN v_server;
END $$;

-- Members of a server with the names that they bear there, in one call for hundreds of them. Locks in the order of
-- every write: accounts, users, server. Who was forgotten is left out until that person speaks again. A name without a
-- value is taken away. Each row is looked up by index (LATERAL … OFFSET 0): nothing tells the planner how many rows an
-- array holds, and a join of two such guesses compares each with each.
CREATE FUNCTION see_members(
    p_platform text, p_server text, p_server_kind text, p_server_name text, p_owning text[],
    p_kinds text[], p_ids text[], p_sources text[], p_values text[], p_normalised text[], p_now timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_accounts bigint[];
    v_missing bigint[];
    v_users bigint[];
    v_server bigint;
    v_owners text[];
BEGIN
    INSERT INTO accounts (platform, external_id, kind, username, display_name, created_at, last_seen_at)
    SELECT p_platform, m.external_id, m.kind, max(m.value) FILTER (WHERE m.source = 'username'),
           max(m.value) FILTER (WHERE m.source = 'guild'), p_now, p_now
    FROM unnest(p_kinds, p_ids, p_sources, p_values) AS m (kind, external_id, source, value)
    GROUP BY m.external_id, m.kind
    ORDER BY m.external_id, m.kind
    ON CONFLICT DO NOTHING;

    SELECT array_agg(l.account_id) INTO v_accounts
    FROM (
        SELECT a.account_id FROM accounts a
        WHERE (a.external_id, a.kind) IN (SELECT * FROM unnest(p_ids, p_kinds))
          AND a.platform = p_platform AND a.display_name <> ''
        ORDER BY a.account_id FOR NO KEY UPDATE
    ) l;

    SELECT array_agg(a.account_id) INTO v_missing
    FROM accounts a WHERE a.account_id = ANY (v_accounts) AND a.user_id IS NULL AND a.kind = ANY (p_owning);
    WITH made AS (
        INSERT INTO users (kind, created_at) SELECT 'account', p_now FROM unnest(v_missing) RETURNING user_id
    )
    SELECT array_agg(user_id) INTO v_users FROM made;
    UPDATE accounts a SET user_id = u.user_id
    FROM unnest(v_missing, v_users) AS u (account_id, user_id)
    WHERE a.account_id = u.account_id;

    v_server := register_server(p_platform, p_server, p_server_kind, p_server_name, p_now);

    -- As in register_account: the name shown here counts elsewhere only when it has just changed.
    UPDATE accounts a
    SET username = coalesce(m.username, b.username),
        display_name = CASE WHEN g.value = m.shown THEN b.display_name ELSE m.shown END
    FROM (
        SELECT x.external_id, x.kind, max(x.value) FILTER (WHERE x.source = 'username') AS username,
               max(x.value) FILTER (WHERE x.source = 'guild') AS shown
        FROM unnest(p_kinds, p_ids, p_sources, p_values) AS x (kind, external_id, source, value)
        GROUP BY x.external_id, x.kind
    ) m
    CROSS JOIN LATERAL (
        SELECT * FROM accounts y
        WHERE y.external_id = m.external_id AND y.platform = p_platform AND y.kind = m.kind OFFSET 0
    ) b
    LEFT JOIN LATERAL (
        SELECT n.value FROM names n
        WHERE n.server_id = v_server AND n.account_id = b.account_id AND n.source = 'guild' OFFSET 0
    ) g ON true
    WHERE a.account_id = b.account_id AND b.display_name <> ''
      AND (b.username IS DISTINCT FROM coalesce(m.username, b.username)
           OR (b.display_name <> m.shown AND g.value IS DISTINCT FROM m.shown));

    WITH given AS MATERIALIZED (
        SELECT a.account_id, a.user_id, m.source, m.value, m.normalised, n.place, n.value AS old, n.normalised AS old_form
        FROM unnest(p_kinds, p_ids, p_sources, p_values, p_normalised) AS m (kind, external_id, source, value, normalised)
        CROSS JOIN LATERAL (
            SELECT * FROM accounts y
            WHERE y.external_id = m.external_id AND y.platform = p_platform AND y.kind = m.kind OFFSET 0
        ) a
        LEFT JOIN LATERAL (
            SELECT k.ctid AS place, k.value, k.normalised FROM names k
            WHERE k.server_id = v_server AND k.account_id = a.account_id AND k.source = m.source OFFSET 0
        ) n ON true
        WHERE a.display_name <> ''
    ), gone AS (
        DELETE FROM names n
        WHERE n.ctid = ANY (ARRAY(SELECT g.place FROM given g WHERE g.value IS NULL AND g.place IS NOT NULL))
    ), changed AS (
        UPDATE names n SET value = g.value, normalised = g.normalised, seen_at = p_now
        FROM given g
        WHERE n.ctid = g.place AND g.value IS NOT NULL AND (g.old, g.old_form) <> (g.value, g.normalised)
        RETURNING g.user_id
    ), fresh AS (
        INSERT INTO names (account_id, server_id, source, value, normalised, seen_at)
        SELECT g.account_id, v_server, g.source, g.value, g.normalised, p_now
        FROM given g
        WHERE g.value IS NOT NULL AND g.place IS NULL
        ON CONFLICT DO NOTHING
    )
    -- A new name of somebody known makes stale what was rendered with the old one.
    SELECT array_agg(DISTINCT o.owner ORDER BY o.owner) INTO v_owners
    FROM (SELECT 'user:' || user_id AS owner FROM changed WHERE user_id IS NOT NULL
          UNION ALL SELECT 'server:' || v_server FROM changed) o;
    PERFORM raise_revision(o) FROM unnest(v_owners) AS o;
END $$;
