-- Every longer word of the documents, so that a word that stands in none of them leads to those that resemble it.
-- Nothing depends on its being complete: what it lacks is not resembled, what it holds too much finds nothing.

CREATE TABLE document_words (
    word  text PRIMARY KEY CHECK (length(word) >= 4)
);
CREATE INDEX document_words_beginning ON document_words (word text_pattern_ops);

CREATE FUNCTION document_words_learn(p_document bigint) RETURNS void
LANGUAGE sql AS $$
    -- In order, so that two who learn the same words wait for each other in one direction only.
    INSERT INTO document_words
    SELECT DISTINCT lexeme.word
      FROM document_chunks c CROSS JOIN LATERAL unnest(tsvector_to_array(c.words)) AS lexeme (word)
     WHERE c.document_id = p_document AND length(lexeme.word) >= 4
     ORDER BY 1
        ON CONFLICT DO NOTHING
$$;
COMMENT ON FUNCTION document_words_learn IS 'Adds the words of a document, after it was committed.';

-- A word that no part holds any more goes with the last one, whoever removes it: no text outlives its document.
CREATE FUNCTION document_words_forget() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM document_words w
     WHERE w.word IN (
               SELECT d.word
                 FROM document_words d
                 JOIN (SELECT DISTINCT lexeme.word
                         FROM gone CROSS JOIN LATERAL unnest(tsvector_to_array(gone.words)) AS lexeme (word)) AS was
                   ON was.word = d.word
                WHERE NOT EXISTS (SELECT FROM document_chunks c WHERE c.words @@ quote_literal(d.word)::tsquery)
                ORDER BY d.word
                  FOR UPDATE OF d SKIP LOCKED);
    RETURN NULL;
END $$;
CREATE TRIGGER document_words_forget AFTER DELETE ON document_chunks
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION document_words_forget();
CREATE TRIGGER document_words_replace AFTER UPDATE ON document_chunks
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION document_words_forget();

SELECT prepare_extension('pg_trgm');
