-- Finding memories again by meaning and by words. Everything works without pgvector; then words alone are searched.

ALTER TABLE server_memories ADD COLUMN words tsvector;
ALTER TABLE personal_memories ADD COLUMN words tsvector;
ALTER TABLE server_memories ALTER COLUMN words SET STORAGE MAIN;
ALTER TABLE personal_memories ALTER COLUMN words SET STORAGE MAIN;
COMMENT ON COLUMN server_memories.words IS 'The words of the content, as agent/search_words.py cuts them; null: not cut yet.';
COMMENT ON COLUMN personal_memories.words IS 'The words of the content, as agent/search_words.py cuts them; null: not cut yet.';

CREATE INDEX server_memories_uncut ON server_memories (server_memory_id) WHERE words IS NULL;
CREATE INDEX personal_memories_uncut ON personal_memories (personal_memory_id) WHERE words IS NULL;

-- Two tables share the ids, so triggers on each do what a foreign key cannot. They must not mind that the table of
-- embeddings is gone, as after a restore where pgvector is missing.
CREATE OR REPLACE FUNCTION memory_embeddings_follow() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF to_regclass('memory_embeddings') IS NULL THEN
        RETURN NULL;
    END IF;
    IF TG_TABLE_NAME = 'server_memories' THEN
        DELETE FROM memory_embeddings e USING gone WHERE e.memory_id = gone.server_memory_id;
    ELSE
        DELETE FROM memory_embeddings e USING gone WHERE e.memory_id = gone.personal_memory_id;
    END IF;
    RETURN NULL;
END $$;

-- A text that has changed has another place among all others.
CREATE FUNCTION memory_embeddings_outdated() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF to_regclass('memory_embeddings') IS NULL THEN
        RETURN NULL;
    END IF;
    IF TG_TABLE_NAME = 'server_memories' THEN
        DELETE FROM memory_embeddings e WHERE e.memory_id = OLD.server_memory_id;
    ELSE
        DELETE FROM memory_embeddings e WHERE e.memory_id = OLD.personal_memory_id;
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION memory_prepare_embeddings() RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    v_table text;
BEGIN
    IF to_regclass('memory_embeddings') IS NOT NULL AND EXISTS (
        SELECT FROM pg_trigger
         WHERE tgname = 'memory_embeddings_outdated' AND tgrelid = 'personal_memories'::regclass)
    THEN
        RETURN true;
    END IF;
    IF NOT prepare_extension('vector') THEN
        RETURN false;
    END IF;
    PERFORM pg_advisory_xact_lock(7305530113210453);
    IF to_regclass('memory_embeddings') IS NULL THEN
        EXECUTE 'CREATE TABLE memory_embeddings (
            memory_id  bigint NOT NULL,
            model      text NOT NULL,
            embedding  vector NOT NULL,
            PRIMARY KEY (memory_id, model)
        )';
        -- Inline, because a detour through TOAST makes an exact search six times slower.
        EXECUTE 'ALTER TABLE memory_embeddings ALTER COLUMN embedding SET STORAGE PLAIN';
    END IF;
    FOREACH v_table IN ARRAY ARRAY['server_memories', 'personal_memories'] LOOP
        EXECUTE format('CREATE OR REPLACE TRIGGER memory_embeddings_follow AFTER DELETE ON %I
                        REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
                        EXECUTE FUNCTION memory_embeddings_follow()', v_table);
        EXECUTE format('CREATE OR REPLACE TRIGGER memory_embeddings_outdated AFTER UPDATE ON %I
                        FOR EACH ROW WHEN (OLD.content IS DISTINCT FROM NEW.content)
                        EXECUTE FUNCTION memory_embeddings_outdated()', v_table);
    END LOOP;
    RETURN true;
END $$;
COMMENT ON FUNCTION memory_prepare_embeddings IS 'Makes the table of embeddings if pgvector is there; tells whether it is.';

SELECT memory_prepare_embeddings();

-- What recall has placed counts as fresh again. The owners are locked first and in the order of every write, so that
-- no row is waited for by somebody who holds another one.
CREATE FUNCTION memories_reinforce(p_ids bigint[], p_turn text, p_now timestamptz) RETURNS text[]
LANGUAGE plpgsql AS $$
DECLARE
    v_owners text[];
BEGIN
    PERFORM FROM users u
      WHERE u.user_id IN (SELECT m.user_id FROM personal_memories m WHERE m.personal_memory_id = ANY (p_ids))
      ORDER BY u.user_id FOR NO KEY UPDATE;
    PERFORM FROM servers s
      WHERE s.server_id IN (SELECT m.server_id FROM server_memories m WHERE m.server_memory_id = ANY (p_ids))
      ORDER BY s.server_id FOR NO KEY UPDATE;
    WITH personal AS (
        UPDATE personal_memories m SET last_reinforced_at = greatest(m.last_reinforced_at, p_now)
         WHERE m.personal_memory_id = ANY (p_ids)
        RETURNING m.personal_memory_id AS memory_id, 'personal' AS scope, m.user_id AS owner_id, m.persona_lineage_id
    ), server AS (
        UPDATE server_memories m SET last_reinforced_at = greatest(m.last_reinforced_at, p_now)
         WHERE m.server_memory_id = ANY (p_ids)
        RETURNING m.server_memory_id AS memory_id, 'server' AS scope, m.server_id AS owner_id, m.persona_lineage_id
    ), fresh AS (
        SELECT * FROM personal UNION ALL SELECT * FROM server
    ), noted AS (
        INSERT INTO memory_events (memory_id, scope, owner_id, persona_lineage_id, kind, source_turn_id, happened_at)
        SELECT memory_id, scope, owner_id, persona_lineage_id, 'reinforced', p_turn, p_now FROM fresh ORDER BY memory_id
    )
    SELECT array_agg(DISTINCT (CASE scope WHEN 'server' THEN 'server:' ELSE 'user:' END) || owner_id) INTO v_owners
      FROM fresh;
    PERFORM raise_revision(o) FROM (SELECT unnest(v_owners) AS o ORDER BY 1) AS ordered;
    RETURN coalesce(v_owners, '{}');
END $$;
COMMENT ON FUNCTION memories_reinforce IS 'Reinforces rows of both kinds, notes it, and returns the owners whose state changed.';
