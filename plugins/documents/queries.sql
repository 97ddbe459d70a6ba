-- name: lock_server
-- Lets one change of a server's documents at a time count and write; held until the transaction ends.
SELECT pg_advisory_xact_lock(hashtextextended('documents', $1));

-- name: count_of_server
-- How many documents and parts a server has.
SELECT count(*) AS documents, coalesce(sum(parts), 0) AS parts FROM documents WHERE server_id = $1;

-- name: find_same
-- The document that the same file has become already, in the same lineage and audience.
SELECT document_id FROM documents
 WHERE server_id = $1 AND digest = $2 AND persona_lineage_id IS NOT DISTINCT FROM $3 AND audience = $4
   AND (audience <> 'channel' OR source_channel_id = $5);

-- name: add_document
-- Adds a document without parts, and without its uploader.
INSERT INTO documents (server_id, persona_lineage_id, title, kind, channel_disc_ids, audience, source_platform,
                       source_channel_id, digest, bytes, pages, parts, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13)
RETURNING document_id;

-- name: add_chunks
-- Adds parts to a document, in their order.
INSERT INTO document_chunks (document_id, ordinal, heading, content, words, updated_at)
SELECT $1, part.ordinal, part.heading, part.content, array_to_tsvector(string_to_array(part.words, ' ')), $6
  FROM unnest($2::integer[], $3::text[], $4::text[], $5::text[]) AS part (ordinal, heading, content, words)
 ORDER BY part.ordinal;

-- name: set_uploader
-- Notes who uploaded a document, unless the person was forgotten since; last, because it locks the account.
UPDATE documents
   SET uploader_account_id = (SELECT account_id FROM accounts
                               WHERE account_id = $2 AND (forgotten_before IS NULL OR forgotten_before < $3) FOR SHARE)
 WHERE document_id = $1;

-- name: list_documents
-- The documents that may be seen from a place, oldest first.
SELECT d.document_id, d.server_id, d.persona_lineage_id, d.title, d.kind, d.channel_disc_ids, d.audience,
       d.source_platform, d.source_channel_id, d.bytes, d.pages, d.parts, d.created_at
  FROM documents d
 WHERE document_is_admitted(d, $1, $2, $3, $4, $5)
 ORDER BY d.document_id;

-- name: read_document
-- One document by its id or that of one of its parts, if it may be seen from a place.
SELECT d.document_id, d.server_id, d.persona_lineage_id, d.title, d.kind, d.channel_disc_ids, d.audience,
       d.source_platform, d.source_channel_id, d.bytes, d.pages, d.parts, d.created_at
  FROM documents d
 WHERE d.document_id = coalesce((SELECT c.document_id FROM document_chunks c WHERE c.chunk_id = $6), $6)
   AND document_is_admitted(d, $1, $2, $3, $4, $5);

-- name: list_chunks
-- Some parts of a document in their order.
SELECT chunk_id, document_id, ordinal, heading, content, version
  FROM document_chunks
 WHERE document_id = $1
 ORDER BY ordinal
 LIMIT $2 OFFSET $3;

-- name: read_chunk
-- One part by its id.
SELECT chunk_id, document_id, ordinal, heading, content, version FROM document_chunks WHERE chunk_id = $1;

-- name: chunk_texts
-- Some parts of a document behind an ordinal, to have their words cut anew.
SELECT chunk_id, ordinal, heading, content FROM document_chunks
 WHERE document_id = $1 AND ordinal > $2
 ORDER BY ordinal
 LIMIT $3;

-- name: edit_chunk
-- Replaces the text of a part, if it has not changed since it was read; no row otherwise.
WITH changed AS (
    UPDATE document_chunks
       SET content = $3, words = array_to_tsvector($4::text[]), version = version + 1, updated_at = $5
     WHERE chunk_id = $1 AND version = $2
    RETURNING document_id, version
), touched AS (
    UPDATE documents SET updated_at = $5 WHERE document_id IN (SELECT document_id FROM changed)
)
SELECT version FROM changed;

-- name: rename_document
-- Gives a document another title.
UPDATE documents SET title = $2, updated_at = $3 WHERE document_id = $1;

-- name: renew_words
-- Gives parts other words, because the title has changed.
UPDATE document_chunks c
   SET words = array_to_tsvector(string_to_array(part.words, ' '))
  FROM unnest($1::bigint[], $2::text[]) AS part (chunk_id, words)
 WHERE c.chunk_id = part.chunk_id;

-- name: set_scope
-- Says anew where a document is known.
UPDATE documents
   SET persona_lineage_id = $2, channel_disc_ids = $3, audience = $4, updated_at = $5
 WHERE document_id = $1;

-- name: remove_document
-- Removes a document with its parts.
DELETE FROM documents WHERE document_id = $1 RETURNING document_id;

-- name: remove_chunk
-- Removes a part, and returns its text.
WITH gone AS (
    DELETE FROM document_chunks WHERE chunk_id = $1 RETURNING document_id, content
), counted AS (
    UPDATE documents SET parts = parts - 1, updated_at = $2 WHERE document_id IN (SELECT document_id FROM gone)
)
SELECT content FROM gone;

-- name: search
-- The parts that fit best by meaning and by words among the documents that are admitted in a place.
-- Each word counts by its rarity among these documents, and more in a short part than in a long one; for a word that no
-- document holds, those that are written almost alike count by their likeness.
WITH admitted AS MATERIALIZED (
    SELECT d.document_id, d.title, d.parts FROM documents d WHERE document_is_admitted(d, $1, $2, $3, $4, $5)
), near AS MATERIALIZED (
    SELECT v.row_id AS chunk_id
      FROM document_vectors v
     WHERE v.group_id IN (SELECT document_id FROM admitted) AND v.model = $7
     ORDER BY CASE WHEN vector_dims(v.embedding) = $9 THEN v.embedding <#> $8::real[]::vector END
     LIMIT $10
), asked AS MATERIALIZED (
    SELECT word, 1.0::real AS likeness FROM unnest($6::text[]) AS term (word)
     UNION ALL SELECT word, similarity FROM document_words_alike($6::text[], 0.4, 3)
), hits AS MATERIALIZED (
    SELECT asked.word, asked.likeness, c.chunk_id, c.length
      FROM asked
     CROSS JOIN LATERAL (
         SELECT chunk_id, length(words) FROM document_chunks
          WHERE words @@ quote_literal(asked.word)::tsquery
            AND document_id IN (SELECT document_id FROM admitted)
          LIMIT 1000) AS c
), weights AS (
    SELECT word, max(likeness) * ln(1 + (SELECT sum(parts) FROM admitted)::real / count(DISTINCT chunk_id)) AS weight
      FROM hits GROUP BY word
), scored AS MATERIALIZED (
    SELECT chunk_id, sum(weight * 2.2 / (1.3 + 0.9 * length / 100.0)) AS score
      FROM hits JOIN weights USING (word)
     GROUP BY chunk_id
), best AS (
    SELECT chunk_id FROM near UNION (SELECT chunk_id FROM scored ORDER BY score DESC, chunk_id LIMIT $10)
)
SELECT c.chunk_id, c.document_id, c.ordinal, c.heading, c.content, c.version, c.updated_at, admitted.title,
       coalesce(scored.score, 0)::float8 AS lexical,
       CASE WHEN vector_dims(v.embedding) = $9 THEN -(v.embedding <#> $8::real[]::vector) END AS cosine
  FROM best
  JOIN document_chunks c USING (chunk_id)
  JOIN admitted USING (document_id)
  LEFT JOIN scored USING (chunk_id)
  LEFT JOIN document_vectors v ON v.row_id = c.chunk_id AND v.model = $7;

-- name: search_words
-- The same by words alone, where there are no vectors or no model.
WITH admitted AS MATERIALIZED (
    SELECT d.document_id, d.title, d.parts FROM documents d WHERE document_is_admitted(d, $1, $2, $3, $4, $5)
), asked AS MATERIALIZED (
    SELECT word, 1.0::real AS likeness FROM unnest($6::text[]) AS term (word)
     UNION ALL SELECT word, similarity FROM document_words_alike($6::text[], 0.4, 3)
), hits AS MATERIALIZED (
    SELECT asked.word, asked.likeness, c.chunk_id, c.length
      FROM asked
     CROSS JOIN LATERAL (
         SELECT chunk_id, length(words) FROM document_chunks
          WHERE words @@ quote_literal(asked.word)::tsquery
            AND document_id IN (SELECT document_id FROM admitted)
          LIMIT 1000) AS c
), weights AS (
    SELECT word, max(likeness) * ln(1 + (SELECT sum(parts) FROM admitted)::real / count(DISTINCT chunk_id)) AS weight
      FROM hits GROUP BY word
), scored AS (
    SELECT chunk_id, sum(weight * 2.2 / (1.3 + 0.9 * length / 100.0)) AS score
      FROM hits JOIN weights USING (word)
     GROUP BY chunk_id
     ORDER BY score DESC, chunk_id
     LIMIT $7
)
SELECT c.chunk_id, c.document_id, c.ordinal, c.heading, c.content, c.version, c.updated_at, admitted.title,
       scored.score::float8 AS lexical, NULL::float8 AS cosine
  FROM scored JOIN document_chunks c USING (chunk_id) JOIN admitted USING (document_id);

-- name: pending
-- Parts without a vector of a model whose ids lie between, the highest first.
SELECT c.chunk_id, c.version, c.heading, c.content
  FROM document_chunks c
 WHERE c.chunk_id > $2 AND c.chunk_id < $3
   AND NOT EXISTS (SELECT FROM document_vectors v WHERE v.row_id = c.chunk_id AND v.model = $1)
 ORDER BY c.chunk_id DESC
 LIMIT $4;

-- name: count_pending
-- How many parts have no vector of a model.
SELECT count(*) FROM document_chunks c
 WHERE NOT EXISTS (SELECT FROM document_vectors v WHERE v.row_id = c.chunk_id AND v.model = $1);

-- name: keep_vectors
-- Keeps the vectors ($3: one after the other, of $4 numbers each) of parts that still have their version, except those
-- that somebody is changing now: whoever changes a text removes its vector after that, and wakes the worker.
WITH present AS (
    SELECT c.chunk_id, c.document_id, given.position
      FROM unnest($1::bigint[], $2::integer[]) WITH ORDINALITY AS given (chunk_id, version, position)
      JOIN document_chunks c ON c.chunk_id = given.chunk_id AND c.version = given.version
       FOR SHARE OF c SKIP LOCKED
), kept AS (
    INSERT INTO document_vectors (row_id, group_id, model, embedding)
    SELECT chunk_id, document_id, $5, ($3::real[])[(position - 1) * $4 + 1 : position * $4]::vector FROM present
        ON CONFLICT (row_id) DO UPDATE SET model = excluded.model, embedding = excluded.embedding
    RETURNING 1
)
SELECT count(*) FROM kept;

-- name: drop_vectors
-- Removes the vectors of parts whose text has changed.
DELETE FROM document_vectors WHERE row_id = ANY ($1::bigint[]);

-- name: learn_words
-- Adds the words of a document to those that a question may resemble.
SELECT document_words_learn($1);

-- name: analyze
-- Lets PostgreSQL learn anew which words are frequent.
SELECT document_chunks_analyze();

-- name: uploaded_by
-- What an account has uploaded.
SELECT d.document_id, d.title, s.platform, s.external_id AS server, d.created_at
  FROM documents d JOIN servers s USING (server_id)
 WHERE d.uploader_account_id = $1
 ORDER BY d.document_id;

-- name: forget_uploader
-- Takes an account's name off what it has uploaded.
UPDATE documents SET uploader_account_id = NULL WHERE uploader_account_id = $1;

-- name: count_all
-- How many documents and parts there are, for the health check.
SELECT (SELECT count(*) FROM documents) AS documents, (SELECT count(*) FROM document_chunks) AS parts;
