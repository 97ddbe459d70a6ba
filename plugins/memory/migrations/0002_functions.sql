-- The write path (facts: a count fused with the lock lets rows through the cap, a function called after it does not).
-- Each function is VOLATILE, so every statement in it sees what was committed before that statement began. Planning them
-- for each call would cost more than running them.

-- Who must be told for the first time that the agent remembers is locked for a change at once, with everybody else whom
-- the write rests on, in the order of every write (facts_for_write): who holds a share and then wants more would wait
-- for another who does the same. This happens once a person; other writes leave the locking to facts_for_write.
CREATE FUNCTION memory_lock_to_tell(
    p_accounts bigint[], p_users bigint[], p_owner_user bigint, p_server bigint
) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_user bigint;
BEGIN
    PERFORM FROM accounts a WHERE a.account_id = ANY (p_accounts) OR a.user_id = ANY (p_users)
      ORDER BY a.account_id FOR NO KEY UPDATE;
    FOR v_user IN SELECT DISTINCT u FROM unnest(p_users) u ORDER BY u LOOP
        IF v_user = p_owner_user THEN
            PERFORM FROM users u WHERE u.user_id = v_user FOR NO KEY UPDATE;
        ELSE
            PERFORM FROM users u WHERE u.user_id = v_user FOR SHARE;
        END IF;
    END LOOP;
    IF p_owner_user IS NULL THEN
        PERFORM FROM servers s WHERE s.server_id = p_server FOR NO KEY UPDATE;
    ELSE
        PERFORM FROM servers s WHERE s.server_id = p_server FOR SHARE;
    END IF;
END $$;

CREATE FUNCTION memory_is_untold(p_account bigint) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM accounts a WHERE a.account_id = p_account)
       AND NOT EXISTS (SELECT FROM accounts a WHERE a.account_id = p_account AND a.disclosed_at IS NOT NULL)
       AND NOT EXISTS (SELECT FROM accounts a JOIN accounts other ON other.user_id = a.user_id
                        WHERE a.account_id = p_account AND other.disclosed_at IS NOT NULL)
$$;
COMMENT ON FUNCTION memory_is_untold IS 'Whether none of a person''s accounts was ever told that the agent remembers.';

CREATE FUNCTION memory_is_dormant(
    p_last_reinforced_at timestamptz, p_created_at timestamptz, p_now timestamptz, p_days integer
) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT p_now - coalesce(p_last_reinforced_at, p_created_at) > make_interval(hours => 24 * p_days)
$$;
COMMENT ON FUNCTION memory_is_dormant IS 'The same as rules.is_dormant, which a test holds.';

CREATE FUNCTION server_memory_forget(
    p_memory_id bigint, p_reason text, p_actor bigint, p_turn text, p_tool text, p_now timestamptz
) RETURNS server_memories
LANGUAGE plpgsql AS $$
DECLARE
    gone server_memories;
BEGIN
    DELETE FROM server_memories WHERE server_memory_id = p_memory_id RETURNING * INTO gone;
    IF FOUND THEN
        INSERT INTO forgotten_memories
            (memory_id, scope, server_id, subject_account_id, subject_user_id, reason, memory, forgotten_at)
        VALUES (p_memory_id, 'server', gone.server_id, gone.subject_account_id, gone.subject_user_id, p_reason,
                to_jsonb(gone), p_now);
        INSERT INTO memory_events (memory_id, scope, owner_id, persona_lineage_id, kind, actor_account_id,
                                   source_turn_id, source_tool, happened_at)
        VALUES (p_memory_id, 'server', gone.server_id, gone.persona_lineage_id, p_reason, p_actor,
                p_turn, p_tool, p_now);
    END IF;
    RETURN gone;
END $$;
COMMENT ON FUNCTION server_memory_forget IS 'Removes a row, keeps a copy for undo, and notes who did it.';

CREATE FUNCTION personal_memory_forget(
    p_memory_id bigint, p_reason text, p_actor bigint, p_turn text, p_tool text, p_now timestamptz
) RETURNS personal_memories
LANGUAGE plpgsql AS $$
DECLARE
    gone personal_memories;
BEGIN
    DELETE FROM personal_memories WHERE personal_memory_id = p_memory_id RETURNING * INTO gone;
    IF FOUND THEN
        INSERT INTO forgotten_memories
            (memory_id, scope, user_id, subject_account_id, subject_user_id, reason, memory, forgotten_at)
        VALUES (p_memory_id, 'personal', gone.user_id, gone.subject_account_id, gone.subject_user_id, p_reason,
                to_jsonb(gone), p_now);
        INSERT INTO memory_events (memory_id, scope, owner_id, persona_lineage_id, kind, actor_account_id,
                                   source_turn_id, source_tool, happened_at)
        VALUES (p_memory_id, 'personal', gone.user_id, gone.persona_lineage_id, p_reason, p_actor,
                p_turn, p_tool, p_now);
    END IF;
    RETURN gone;
END $$;
COMMENT ON FUNCTION personal_memory_forget IS 'Removes a row, keeps a copy for undo, and notes who did it.';

CREATE FUNCTION server_memory_add(
    p_memory jsonb, p_cap integer, p_evict boolean, p_decay_days integer, p_now timestamptz
) RETURNS TABLE (outcome text, memory_id bigint, forgotten_id bigint, forgotten_content text, untold boolean)
LANGUAGE plpgsql SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE
    fresh  server_memories := jsonb_populate_record(NULL::server_memories, p_memory);
    held   server_memories;
    taken  bigint;
    noted  text;
BEGIN
    -- Only its own channel can read what has audience channel, so another channel's row is no duplicate of it;
    -- the same words about somebody else are another fact.
    UPDATE server_memories m
       SET last_reinforced_at = greatest(m.last_reinforced_at, p_now),
           manually_written = m.manually_written OR fresh.manually_written
     WHERE m.server_memory_id = (
               SELECT min(d.server_memory_id) FROM server_memories d
                WHERE d.content_key = fresh.content_key
                  AND d.server_id = fresh.server_id AND d.persona_lineage_id = fresh.persona_lineage_id
                  AND d.audience = fresh.audience
                  AND (d.audience <> 'channel' OR (d.source_platform = fresh.source_platform
                       AND d.source_channel_id IS NOT DISTINCT FROM fresh.source_channel_id))
                  AND d.channel_disc_ids = fresh.channel_disc_ids
                  AND d.channel_scope_pending = fresh.channel_scope_pending
                  AND d.legacy_channel_scope_tags = fresh.legacy_channel_scope_tags
                  AND d.subject_user_id IS NOT DISTINCT FROM fresh.subject_user_id
                  AND (d.subject_user_id IS NOT NULL
                       OR d.subject_account_id IS NOT DISTINCT FROM fresh.subject_account_id))
    RETURNING m.* INTO held;
    IF FOUND THEN
        outcome := 'known';
        noted := 'reinforced';
        memory_id := held.server_memory_id;
    ELSE
        SELECT count(*) INTO taken FROM server_memories m
         WHERE m.server_id = fresh.server_id AND m.persona_lineage_id = fresh.persona_lineage_id;
        outcome := 'saved';
        IF taken >= p_cap THEN
            IF p_evict THEN
                SELECT m.* INTO held FROM server_memories m
                 WHERE m.server_id = fresh.server_id AND m.persona_lineage_id = fresh.persona_lineage_id
                   AND NOT m.manually_written
                   AND memory_is_dormant(m.last_reinforced_at, m.created_at, p_now, p_decay_days)
                 ORDER BY m.last_reinforced_at NULLS FIRST, m.created_at, m.server_memory_id
                 LIMIT 1;
            END IF;
            IF held.server_memory_id IS NULL THEN
                outcome := 'full';
                RETURN NEXT;
                RETURN;
            END IF;
            outcome := 'evicted';
            held := server_memory_forget(held.server_memory_id, 'evicted', fresh.author_account_id,
                                         fresh.source_turn_id, fresh.source_tool, p_now);
            forgotten_id := held.server_memory_id;
            forgotten_content := held.content;
        END IF;
        noted := 'created';
        memory_id := nextval('memory_ids');
        fresh.server_memory_id := memory_id;
        fresh.created_at := p_now;
        fresh.updated_at := p_now;
        fresh.version := 1;
        INSERT INTO server_memories SELECT fresh.*;
    END IF;
    INSERT INTO memory_events (memory_id, scope, owner_id, persona_lineage_id, kind, actor_account_id,
                               source_turn_id, source_tool, happened_at)
    VALUES (memory_id, 'server', fresh.server_id, fresh.persona_lineage_id, noted, fresh.author_account_id,
            fresh.source_turn_id, fresh.source_tool, p_now);
    PERFORM raise_revision('server:' || fresh.server_id);
    untold := memory_is_untold(fresh.subject_account_id);
    RETURN NEXT;
END $$;
COMMENT ON FUNCTION server_memory_add IS
    'Under the locks of facts_for_write: reinforces a near-duplicate, or inserts below the cap, or evicts one row and inserts, or answers full.';

CREATE FUNCTION personal_memory_add(
    p_memory jsonb, p_cap integer, p_evict boolean, p_decay_days integer, p_now timestamptz
) RETURNS TABLE (outcome text, memory_id bigint, forgotten_id bigint, forgotten_content text, untold boolean)
LANGUAGE plpgsql SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE
    fresh  personal_memories := jsonb_populate_record(NULL::personal_memories, p_memory);
    held   personal_memories;
    taken  bigint;
    noted  text;
BEGIN
    -- What has audience server or channel is read in one place only: another place's row is no duplicate of it.
    UPDATE personal_memories m
       SET last_reinforced_at = greatest(m.last_reinforced_at, p_now),
           manually_written = m.manually_written OR fresh.manually_written
     WHERE m.personal_memory_id = (
               SELECT min(d.personal_memory_id) FROM personal_memories d
                WHERE d.content_key = fresh.content_key
                  AND d.user_id = fresh.user_id AND d.persona_lineage_id = fresh.persona_lineage_id
                  AND d.audience = fresh.audience
                  AND (d.audience <> 'channel' OR (d.source_platform = fresh.source_platform
                       AND d.source_channel_id IS NOT DISTINCT FROM fresh.source_channel_id))
                  AND (d.audience <> 'server' OR d.source_server_id IS NOT DISTINCT FROM fresh.source_server_id))
    RETURNING m.* INTO held;
    IF FOUND THEN
        outcome := 'known';
        noted := 'reinforced';
        memory_id := held.personal_memory_id;
    ELSE
        -- Global rows (lineage 0) count in every lineage, so a new global row must fit into the fullest of them.
        SELECT coalesce(sum(n) FILTER (WHERE lineage = 0), 0)
               + coalesce(max(n) FILTER (WHERE lineage <> 0), 0)
          INTO taken
          FROM (SELECT m.persona_lineage_id AS lineage, count(*) AS n FROM personal_memories m
                 WHERE m.user_id = fresh.user_id
                   AND (fresh.persona_lineage_id = 0 OR m.persona_lineage_id IN (0, fresh.persona_lineage_id))
                 GROUP BY 1) AS lineages;
        outcome := 'saved';
        IF taken >= p_cap THEN
            IF p_evict AND fresh.persona_lineage_id <> 0 THEN
                SELECT m.* INTO held FROM personal_memories m
                 WHERE m.user_id = fresh.user_id AND m.persona_lineage_id = fresh.persona_lineage_id
                   AND NOT m.manually_written
                   AND memory_is_dormant(m.last_reinforced_at, m.created_at, p_now, p_decay_days)
                 ORDER BY m.last_reinforced_at NULLS FIRST, m.created_at, m.personal_memory_id
                 LIMIT 1;
            END IF;
            IF held.personal_memory_id IS NULL THEN
                outcome := 'full';
                RETURN NEXT;
                RETURN;
            END IF;
            outcome := 'evicted';
            held := personal_memory_forget(held.personal_memory_id, 'evicted', fresh.author_account_id,
                                           fresh.source_turn_id, fresh.source_tool, p_now);
            forgotten_id := held.personal_memory_id;
            forgotten_content := held.content;
        END IF;
        noted := 'created';
        memory_id := nextval('memory_ids');
        fresh.personal_memory_id := memory_id;
        fresh.created_at := p_now;
        fresh.updated_at := p_now;
        fresh.version := 1;
        INSERT INTO personal_memories SELECT fresh.*;
    END IF;
    INSERT INTO memory_events (memory_id, scope, owner_id, persona_lineage_id, kind, actor_account_id,
                               source_turn_id, source_tool, happened_at)
    VALUES (memory_id, 'personal', fresh.user_id, fresh.persona_lineage_id, noted, fresh.author_account_id,
            fresh.source_turn_id, fresh.source_tool, p_now);
    PERFORM raise_revision('user:' || fresh.user_id);
    untold := memory_is_untold(fresh.subject_account_id);
    RETURN NEXT;
END $$;
COMMENT ON FUNCTION personal_memory_add IS
    'Under the locks of facts_for_write: reinforces a near-duplicate, or inserts below the cap, or evicts one row and inserts, or answers full.';
