-- As before, except that a near-duplicate is looked for before it is changed: nearly always there is none, and preparing
-- a change costs more than the look. What is gone when it is to be changed is no duplicate any more.

CREATE OR REPLACE FUNCTION server_memory_add(
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
    SELECT min(d.server_memory_id) INTO memory_id FROM server_memories d
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
            OR d.subject_account_id IS NOT DISTINCT FROM fresh.subject_account_id);
    IF memory_id IS NOT NULL THEN
        UPDATE server_memories m
           SET last_reinforced_at = greatest(m.last_reinforced_at, p_now),
               manually_written = m.manually_written OR fresh.manually_written
         WHERE m.server_memory_id = memory_id
        RETURNING m.server_memory_id INTO memory_id;
    END IF;
    IF memory_id IS NOT NULL THEN
        outcome := 'known';
        noted := 'reinforced';
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

CREATE OR REPLACE FUNCTION personal_memory_add(
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
    SELECT min(d.personal_memory_id) INTO memory_id FROM personal_memories d
     WHERE d.content_key = fresh.content_key
       AND d.user_id = fresh.user_id AND d.persona_lineage_id = fresh.persona_lineage_id
       AND d.audience = fresh.audience
       AND (d.audience <> 'channel' OR (d.source_platform = fresh.source_platform
            AND d.source_channel_id IS NOT DISTINCT FROM fresh.source_channel_id))
       AND (d.audience <> 'server' OR d.source_server_id IS NOT DISTINCT FROM fresh.source_server_id);
    IF memory_id IS NOT NULL THEN
        UPDATE personal_memories m
           SET last_reinforced_at = greatest(m.last_reinforced_at, p_now),
               manually_written = m.manually_written OR fresh.manually_written
         WHERE m.personal_memory_id = memory_id
        RETURNING m.personal_memory_id INTO memory_id;
    END IF;
    IF memory_id IS NOT NULL THEN
        outcome := 'known';
        noted := 'reinforced';
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
