-- name: has_embeddings
-- Whether embeddings can be kept; makes their table where pgvector has come since.
SELECT memory_prepare_embeddings();

-- name: pending
-- Memories without a vector of a model whose ids lie between, the highest first, with the names of those concerned;
-- without those about somebody whose privacy forbids to show them, because a model may be somebody else's service.
SELECT m.memory_id, m.version, m.content,
       coalesce((SELECT a.display_name FROM accounts a WHERE a.account_id = m.subject_account_id),
                (SELECT a.display_name FROM accounts a WHERE a.user_id = m.about_user_id ORDER BY a.account_id LIMIT 1),
                '') AS subject,
       coalesce((SELECT a.display_name FROM accounts a WHERE a.account_id = m.author_account_id), '') AS author
  FROM (SELECT server_memory_id AS memory_id, version, content, subject_account_id,
               subject_user_id AS about_user_id, author_account_id
          FROM server_memories WHERE server_memory_id > $2 AND server_memory_id < $3
         UNION ALL
        SELECT personal_memory_id, version, content, subject_account_id, user_id, author_account_id
          FROM personal_memories WHERE personal_memory_id > $2 AND personal_memory_id < $3) AS m
 WHERE NOT EXISTS (SELECT FROM memory_embeddings e WHERE e.memory_id = m.memory_id AND e.model = $1)
   AND NOT memory_is_private(m.subject_account_id, m.about_user_id)
 ORDER BY m.memory_id DESC
 LIMIT $4;

-- name: count_pending
-- How many memories have no vector of a model, and may have one.
SELECT count(*)
  FROM (SELECT server_memory_id AS memory_id, subject_account_id, subject_user_id AS about_user_id FROM server_memories
         UNION ALL
        SELECT personal_memory_id, subject_account_id, user_id FROM personal_memories) AS m
 WHERE NOT EXISTS (SELECT FROM memory_embeddings e WHERE e.memory_id = m.memory_id AND e.model = $1)
   AND NOT memory_is_private(m.subject_account_id, m.about_user_id);

-- name: keep_vectors
-- Keeps the vectors ($3: one after the other, of $4 numbers each) of memories that still have their version, except
-- those that somebody is changing now; whoever changes a text removes its vector after that. Other models' go.
WITH given AS MATERIALIZED (
    SELECT * FROM unnest($1::bigint[], $2::integer[]) WITH ORDINALITY AS given (memory_id, version, position)
), server AS MATERIALIZED (
    SELECT m.server_memory_id AS memory_id FROM server_memories m
      JOIN given g ON g.memory_id = m.server_memory_id AND g.version = m.version
       FOR SHARE OF m SKIP LOCKED
), personal AS MATERIALIZED (
    SELECT m.personal_memory_id AS memory_id FROM personal_memories m
      JOIN given g ON g.memory_id = m.personal_memory_id AND g.version = m.version
       FOR SHARE OF m SKIP LOCKED
), present AS MATERIALIZED (
    SELECT memory_id, position FROM given
     WHERE memory_id IN (SELECT memory_id FROM server UNION ALL SELECT memory_id FROM personal)
     ORDER BY memory_id
), others AS (
    DELETE FROM memory_embeddings e USING present p WHERE e.memory_id = p.memory_id AND e.model <> $5
)
INSERT INTO memory_embeddings (memory_id, model, embedding)
SELECT memory_id, $5, ($3::real[])[(position - 1) * $4 + 1 : position * $4]::vector FROM present
    ON CONFLICT (memory_id, model) DO UPDATE SET embedding = excluded.embedding
RETURNING memory_id;

-- name: lock_server_version
-- Waits until nobody changes a server memory, and tells whether it still has its version.
SELECT 1 FROM server_memories WHERE server_memory_id = $1 AND version = $2 FOR SHARE;

-- name: lock_personal_version
-- Waits until nobody changes a personal memory, and tells whether it still has its version.
SELECT 1 FROM personal_memories WHERE personal_memory_id = $1 AND version = $2 FOR SHARE;

-- name: search
-- Scores of the server memories $1 and personal memories $2 that fit best by meaning and by words. A word counts by its
-- rarity among them, by how much it is what was asked for, and more in a short text than in a long one; the names of
-- whom a memory is by or about count too.
WITH given AS MATERIALIZED (
    SELECT server_memory_id AS memory_id, version, words, subject_account_id, subject_user_id AS about_user_id,
           author_account_id
      FROM server_memories WHERE server_memory_id = ANY ($1::bigint[])
     UNION ALL
    SELECT personal_memory_id, version, words, subject_account_id, user_id, author_account_id
      FROM personal_memories WHERE personal_memory_id = ANY ($2::bigint[])
), people AS MATERIALIZED (
    SELECT DISTINCT subject_account_id, author_account_id, about_user_id FROM given
), called AS MATERIALIZED (
    SELECT a.account_id, a.user_id, part.word
      FROM accounts a, regexp_split_to_table(lower(a.display_name), '[^[:alnum:]]+') AS part (word)
     WHERE (a.account_id = ANY (ARRAY(SELECT subject_account_id FROM people UNION SELECT author_account_id FROM people))
            OR a.user_id = ANY (ARRAY(SELECT about_user_id FROM people)))
       AND part.word = ANY ($4::text[])
), terms AS MATERIALIZED (
    SELECT word, quoted::tsquery AS query, likeness FROM unnest($4::text[], $11::text[], $12::real[]) AS term (word, quoted, likeness)
), matching AS MATERIALIZED (
    SELECT memory_id, words, length(words) AS length FROM given WHERE words @@ $3::tsquery
), hits AS MATERIALIZED (
    SELECT m.memory_id, terms.word FROM matching m JOIN terms ON m.words @@ terms.query
     UNION
    SELECT g.memory_id, called.word
      FROM called JOIN given g ON called.account_id = g.subject_account_id OR called.account_id = g.author_account_id
                               OR called.user_id = g.about_user_id
), weights AS (
    SELECT word, likeness * ln(1 + (SELECT count(*) FROM given)::real / count(*)) AS weight
      FROM hits JOIN terms USING (word)
     GROUP BY word, likeness
), scored AS MATERIALIZED (
    SELECT memory_id, sum(weight * 2.2 / (1.3 + 0.9 * coalesce(matching.length, 0) / 100.0)) AS score
      FROM hits JOIN weights USING (word) LEFT JOIN matching USING (memory_id)
     GROUP BY memory_id
), measured AS MATERIALIZED (
    SELECT e.memory_id, CASE WHEN vector_dims(e.embedding) = $7 THEN -(e.embedding <#> $6::real[]::vector) END AS cosine
      FROM memory_embeddings e
     WHERE e.memory_id = ANY ($1::bigint[] || $2::bigint[]) AND e.model = $5
), named AS MATERIALIZED (
    SELECT memory_id FROM given
     WHERE cardinality($9::bigint[]) + cardinality($10::bigint[]) > 0
       AND (subject_account_id = ANY ($9::bigint[]) OR author_account_id = ANY ($9::bigint[])
            OR about_user_id = ANY ($10::bigint[]))
), best AS (
    (SELECT memory_id FROM measured WHERE cosine IS NOT NULL ORDER BY cosine DESC, memory_id LIMIT $8)
     UNION (SELECT memory_id FROM measured JOIN named USING (memory_id) WHERE cosine IS NOT NULL
             ORDER BY cosine DESC, memory_id LIMIT $8)
     UNION (SELECT memory_id FROM scored ORDER BY score DESC, memory_id LIMIT $8)
     UNION (SELECT memory_id FROM scored JOIN named USING (memory_id) ORDER BY score DESC, memory_id LIMIT $8)
)
SELECT g.memory_id, g.version, coalesce(scored.score, 0)::float8 AS lexical, measured.cosine,
       g.subject_account_id, g.author_account_id, coalesce(g.about_user_id, subject.user_id) AS about_user_id,
       author.user_id AS author_user_id
  FROM best JOIN given g USING (memory_id)
  LEFT JOIN scored USING (memory_id)
  LEFT JOIN measured USING (memory_id)
  LEFT JOIN accounts subject ON subject.account_id = g.subject_account_id
  LEFT JOIN accounts author ON author.account_id = g.author_account_id;

-- name: measure
-- How near the vectors of memories are to one of the same model and length.
SELECT memory_id, -(embedding <#> $3::real[]::vector) AS cosine FROM memory_embeddings
 WHERE memory_id = ANY ($1::bigint[]) AND model = $2 AND vector_dims(embedding) = $4;

-- name: reinforce
-- Lets memories of both kinds count as fresh again, notes it, and returns the owners whose state changed.
SELECT memories_reinforce($1::bigint[], $2, $3);

-- name: uncut
-- Memories whose words are not cut yet.
(SELECT server_memory_id AS memory_id, content FROM server_memories WHERE words IS NULL LIMIT $1)
UNION ALL
(SELECT personal_memory_id, content FROM personal_memories WHERE words IS NULL LIMIT $1);

-- name: keep_server_words
-- Gives a server memory its words, unless it has changed.
UPDATE server_memories SET words = array_to_tsvector($3::text[])
 WHERE server_memory_id = $1 AND content = $2 AND words IS NULL;

-- name: keep_personal_words
-- Gives a personal memory its words, unless it has changed.
UPDATE personal_memories SET words = array_to_tsvector($3::text[])
 WHERE personal_memory_id = $1 AND content = $2 AND words IS NULL;
