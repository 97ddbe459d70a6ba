-- What searching by meaning and by words needs of the database. Everything works without the extensions, only worse.

CREATE FUNCTION prepare_extension(p_name text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_extension WHERE extname = p_name) THEN
        RETURN true;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_available_extensions WHERE name = p_name) THEN
        RETURN false;
    END IF;
    PERFORM pg_advisory_xact_lock(5417309862215537);
    EXECUTE format('CREATE EXTENSION IF NOT EXISTS %I', p_name);
    RETURN true;
EXCEPTION WHEN insufficient_privilege OR undefined_file OR feature_not_supported THEN
    RETURN false;
END $$;
COMMENT ON FUNCTION prepare_extension IS 'Creates an extension where it is installed and we may; tells whether it is there.';

-- Exact search in a narrow table is fast because its pages hold little else than vectors, inline: a detour through
-- TOAST makes it six times slower. Of one row there is one vector, of the model that embedded it last.
CREATE FUNCTION prepare_vector_table(p_name text, p_rows text, p_key text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    IF to_regclass(p_name) IS NOT NULL THEN
        RETURN true;
    END IF;
    IF NOT prepare_extension('vector') THEN
        RETURN false;
    END IF;
    PERFORM pg_advisory_xact_lock(5417309862215537);
    -- Not to_regclass again: it may still answer from what this session knew before the lock.
    EXECUTE format('CREATE TABLE IF NOT EXISTS %I (
        row_id     bigint PRIMARY KEY REFERENCES %I (%I) ON DELETE CASCADE,
        group_id   bigint NOT NULL,
        model      text NOT NULL,
        embedding  vector NOT NULL
    )', p_name, p_rows, p_key);
    EXECUTE format('ALTER TABLE %I ALTER COLUMN embedding SET STORAGE PLAIN', p_name);
    EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON %I (group_id)', p_name || '_group', p_name);
    RETURN true;
END $$;
COMMENT ON FUNCTION prepare_vector_table IS 'Makes a plugin''s table of vectors if pgvector is there; tells whether it is.';

CREATE FUNCTION fit_vector_table(p_name text, p_dimension integer) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    -- A page holds 8 kB, and PLAIN allows no value beyond it.
    IF p_dimension > 1900 AND EXISTS (
        SELECT FROM pg_attribute
         WHERE attrelid = to_regclass(p_name) AND attname = 'embedding' AND attstorage = 'p')
    THEN
        EXECUTE format('ALTER TABLE %I ALTER COLUMN embedding SET STORAGE EXTERNAL', p_name);
    END IF;
END $$;
COMMENT ON FUNCTION fit_vector_table IS 'Lets a table of vectors take those of a model that has many dimensions.';
