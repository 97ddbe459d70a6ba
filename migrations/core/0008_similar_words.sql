-- Words that are written almost alike, where pg_trgm is there: so that a slip or another ending still finds something.
-- Only words with the same beginning are compared: among all words of many documents that would take too long.

CREATE FUNCTION similar_words(p_table text, p_words text[], p_least real, p_most integer)
RETURNS TABLE (asked text, word text, similarity real)
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') THEN
        RETURN;
    END IF;
    RETURN QUERY EXECUTE format(
        'SELECT a.word, near.word, near.similarity
           FROM unnest($1) AS a (word)
          CROSS JOIN LATERAL (
              SELECT w.word, similarity(w.word, a.word) AS similarity
                FROM %1$I w
               WHERE w.word ~>=~ left(a.word, 2) AND w.word ~<~ (left(a.word, 2) || chr(1114111))
                 AND similarity(w.word, a.word) >= $2
               ORDER BY similarity DESC, w.word
               LIMIT $3) AS near
          WHERE length(a.word) >= 4 AND NOT EXISTS (SELECT FROM %1$I w WHERE w.word = a.word)', p_table)
        USING p_words, p_least, p_most;
END $$;
COMMENT ON FUNCTION similar_words IS
    'For each word that a table of words does not hold, those of it that resemble it most; none without pg_trgm. The table has an index (word text_pattern_ops).';
