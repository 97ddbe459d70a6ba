-- The same as similar_words for the words of documents, planned once a connection: planning the look at them for each
-- question cost more than the look itself.

CREATE FUNCTION document_words_alike(p_words text[], p_least real, p_most integer)
RETURNS TABLE (asked text, word text, similarity real)
LANGUAGE plpgsql STABLE ROWS 10 SET plan_cache_mode = 'force_generic_plan' AS $$
#variable_conflict use_column
BEGIN
    IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') THEN
        RETURN;
    END IF;
    RETURN QUERY
        SELECT a.word, near.word, near.likeness
          FROM unnest(p_words) AS a (word)
         CROSS JOIN LATERAL (
             SELECT w.word, similarity(w.word, a.word) AS likeness
               FROM document_words w
              WHERE w.word ~>=~ left(a.word, 2) AND w.word ~<~ (left(a.word, 2) || chr(1114111))
                AND similarity(w.word, a.word) >= p_least
              ORDER BY likeness DESC, w.word
              LIMIT p_most) AS near
         WHERE length(a.word) >= 4 AND NOT EXISTS (SELECT FROM document_words w WHERE w.word = a.word);
END $$;
COMMENT ON FUNCTION document_words_alike IS
    'For each word that no document holds, those of them that resemble it most; none without pg_trgm.';
