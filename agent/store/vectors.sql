-- name: prepare_extension
-- Creates an extension where it is installed and may be created, and tells whether it is there.
SELECT prepare_extension($1);

-- name: prepare_vector_table
-- Makes a narrow table of vectors beside rows of another table if pgvector is there, and tells whether it is.
SELECT prepare_vector_table($1, $2, $3);

-- name: fit_vector_table
-- Lets a table of vectors take vectors of so many numbers.
SELECT fit_vector_table($1, $2);

-- name: frequent_words
-- The words that occur in more than a share of a table's rows, as PostgreSQL's own statistics know them.
SELECT counted.word
  FROM pg_stats s
 CROSS JOIN LATERAL unnest(s.most_common_elems::text::text[], s.most_common_elem_freqs) AS counted (word, frequency)
 WHERE s.schemaname = ANY (current_schemas(false)) AND s.tablename = $1 AND s.attname = $2
   AND counted.word IS NOT NULL AND counted.frequency > $3;
