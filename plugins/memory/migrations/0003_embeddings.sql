-- Embeddings, where pgvector is to be had. Nothing else depends on them: without the extension this does nothing, and
-- the plugin calls the function again at its start, so that an extension installed later is taken up.

CREATE FUNCTION memory_prepare_embeddings() RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    IF to_regclass('memory_embeddings') IS NOT NULL THEN
        RETURN true;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector') THEN
        RETURN false;
    END IF;
    PERFORM pg_advisory_xact_lock(7305530113210453);
    IF to_regclass('memory_embeddings') IS NOT NULL THEN
        RETURN true;
    END IF;
    BEGIN
        CREATE EXTENSION IF NOT EXISTS vector;
    EXCEPTION WHEN insufficient_privilege THEN
        RETURN false;
    END;

    EXECUTE 'CREATE TABLE memory_embeddings (
        memory_id  bigint NOT NULL,
        model      text NOT NULL,
        embedding  vector NOT NULL,
        PRIMARY KEY (memory_id, model)
    )';
    -- Inline, because a detour through TOAST makes an exact search six times slower.
    EXECUTE 'ALTER TABLE memory_embeddings ALTER COLUMN embedding SET STORAGE PLAIN';
    -- Two tables share the ids, so a trigger on each does what a foreign key cannot.
    EXECUTE 'CREATE FUNCTION memory_embeddings_follow() RETURNS trigger LANGUAGE plpgsql AS $f$
    BEGIN
        IF TG_TABLE_NAME = ''server_memories'' THEN
            DELETE FROM memory_embeddings e USING gone WHERE e.memory_id = gone.server_memory_id;
        ELSE
            DELETE FROM memory_embeddings e USING gone WHERE e.memory_id = gone.personal_memory_id;
        END IF;
        RETURN NULL;
    END $f$';
    EXECUTE 'CREATE TRIGGER memory_embeddings_follow AFTER DELETE ON server_memories
             REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION memory_embeddings_follow()';
    EXECUTE 'CREATE TRIGGER memory_embeddings_follow AFTER DELETE ON personal_memories
             REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION memory_embeddings_follow()';
    RETURN true;
END $$;
COMMENT ON FUNCTION memory_prepare_embeddings IS 'Makes the table of embeddings if pgvector is there; tells whether it is.';

SELECT memory_prepare_embeddings();
