-- Tables of the documents plugin. Moments always come from the caller: nothing here calls now().

CREATE SEQUENCE document_ids;
COMMENT ON SEQUENCE document_ids IS 'Ids of documents and of their parts: one id means one of either, and none is used twice.';

CREATE TABLE documents (
    document_id          bigint PRIMARY KEY DEFAULT nextval('document_ids'),
    server_id            bigint NOT NULL REFERENCES servers ON DELETE CASCADE,
    persona_lineage_id   bigint CHECK (persona_lineage_id > 0),
    title                text NOT NULL CHECK (title <> ''),
    kind                 text NOT NULL CHECK (kind IN ('text', 'markdown', 'pdf')),
    channel_disc_ids     text[] NOT NULL DEFAULT '{}',
    audience             text NOT NULL CHECK (audience IN ('server', 'channel')),
    source_platform      text NOT NULL,
    source_channel_id    text,
    uploader_account_id  bigint REFERENCES accounts ON DELETE SET NULL,
    digest               bytea NOT NULL,
    bytes                integer NOT NULL,
    pages                integer,
    parts                integer NOT NULL DEFAULT 0 CHECK (parts >= 0),
    created_at           timestamptz NOT NULL,
    updated_at           timestamptz NOT NULL,
    CHECK (audience <> 'channel' OR source_channel_id IS NOT NULL)
);
CREATE UNIQUE INDEX documents_once ON documents (
    server_id, digest, coalesce(persona_lineage_id, 0), (CASE WHEN audience = 'channel' THEN source_channel_id ELSE '' END)
);
CREATE INDEX documents_uploader ON documents (uploader_account_id) WHERE uploader_account_id IS NOT NULL;
COMMENT ON COLUMN documents.persona_lineage_id IS 'Null: every persona of the server knows it.';
COMMENT ON COLUMN documents.channel_disc_ids IS 'Platform ids of the channels it applies in; empty: in all.';
COMMENT ON COLUMN documents.digest IS 'SHA-256 of the file, by which the same file is recognised.';

CREATE TABLE document_chunks (
    chunk_id     bigint PRIMARY KEY DEFAULT nextval('document_ids'),
    document_id  bigint NOT NULL REFERENCES documents ON DELETE CASCADE,
    ordinal      integer NOT NULL,
    heading      text NOT NULL,
    content      text NOT NULL CHECK (content <> ''),
    words        tsvector NOT NULL,
    version      integer NOT NULL DEFAULT 1,
    updated_at   timestamptz NOT NULL,
    UNIQUE (document_id, ordinal)
);
-- The words stay in the row, which a search reads; the text, which it reads of a few rows only, makes room for them.
ALTER TABLE document_chunks ALTER COLUMN words SET STORAGE MAIN;
CREATE INDEX document_chunks_words ON document_chunks USING gin (words);
COMMENT ON COLUMN document_chunks.words IS 'The words of title, heading and content, as agent/search_words.py cuts them.';

-- Everything that decides whether a document may be seen from a place stands here, and nowhere else.
CREATE FUNCTION document_is_admitted(
    d documents, p_server bigint, p_platform text, p_channels text[], p_lineage bigint, p_in_scope boolean
) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT d.server_id = p_server
       AND (p_lineage IS NULL OR d.persona_lineage_id IS NULL OR d.persona_lineage_id = p_lineage)
       AND (p_channels IS NULL OR d.audience <> 'channel'
            OR (d.source_platform = p_platform AND d.source_channel_id = ANY (p_channels)))
       AND (p_channels IS NULL OR NOT p_in_scope OR d.channel_disc_ids = '{}' OR d.channel_disc_ids && p_channels)
$$;
COMMENT ON FUNCTION document_is_admitted IS
    'p_channels: the channel and the one above it; null for the operator. p_in_scope: whether a channel scope withholds.';

CREATE FUNCTION document_chunks_analyze() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    ANALYZE document_chunks;
END $$;
COMMENT ON FUNCTION document_chunks_analyze IS 'After many additions: which words are frequent, and how best to search.';

SELECT prepare_vector_table('document_vectors', 'document_chunks', 'chunk_id');
