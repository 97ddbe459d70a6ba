-- name: lock_server
-- Holds a server's row, so that what is counted stays true until the transaction ends.
SELECT server_id FROM servers WHERE server_id = $1 FOR NO KEY UPDATE;

-- name: books
-- The lorebooks of a server by name, with the number of their entries.
SELECT b.*, (SELECT count(*) FROM lorebook_entries e WHERE e.lorebook_id = b.lorebook_id) AS entries
FROM lorebooks b
WHERE b.server_id = $1
ORDER BY lower(b.name);

-- name: book_by_name
-- One lorebook of a server, in whatever case its name is written.
SELECT * FROM lorebooks WHERE server_id = $1 AND lower(name) = lower($2);

-- name: book_of_entry
-- The lorebook that holds an entry, if it is one of this server.
SELECT b.* FROM lorebooks b JOIN lorebook_entries e USING (lorebook_id) WHERE b.server_id = $1 AND e.entry_id = $2;

-- name: enabled_books
-- The lorebooks of a server that are in use.
SELECT * FROM lorebooks WHERE server_id = $1 AND enabled ORDER BY lorebook_id;

-- name: entries
-- All entries of some lorebooks, by book and number.
SELECT * FROM lorebook_entries WHERE lorebook_id = ANY ($1::bigint[]) ORDER BY lorebook_id, uid;

-- name: totals
-- How much a server has: lorebooks, entries, characters, patterns.
SELECT
    (SELECT count(*) FROM lorebooks WHERE server_id = $1) AS books,
    count(e.entry_id) AS entries,
    coalesce(sum(length(e.content) + length(array_to_string(e.keys || e.secondary_keys, ''))), 0)::bigint AS characters,
    (SELECT count(*) FROM lorebooks b JOIN lorebook_entries p USING (lorebook_id),
                          unnest(p.keys || p.secondary_keys) AS key
      WHERE b.server_id = $1 AND key ~ '^/.+/[dgimsuvy]*$') AS patterns
FROM lorebooks b JOIN lorebook_entries e USING (lorebook_id)
WHERE b.server_id = $1;

-- name: add_book
-- Adds a lorebook without entries.
INSERT INTO lorebooks (server_id, name, description, enabled, persona_lineage_id, channel_ids, scan_depth, token_budget,
                       recursive, extra, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11)
RETURNING lorebook_id;

-- name: save_book
-- Changes a lorebook; its entries stay.
UPDATE lorebooks
   SET name = $2, description = $3, enabled = $4, persona_lineage_id = $5, channel_ids = $6, scan_depth = $7,
       token_budget = $8, recursive = $9, extra = $10, updated_at = $11
 WHERE lorebook_id = $1;

-- name: remove_book
-- Removes a lorebook with its entries.
DELETE FROM lorebooks WHERE lorebook_id = $1;

-- name: add_entries
-- Adds entries, given as JSON by column, to a lorebook.
INSERT INTO lorebook_entries (lorebook_id, uid, name, content, keys, secondary_keys, logic, selective, constant, enabled,
                              insertion_order, scan_depth, whole_words, case_sensitive, probability, exclude_recursion,
                              prevent_recursion, delay_until_recursion, extra)
SELECT $1, r.uid, r.name, r.content, r.keys, r.secondary_keys, r.logic, r.selective, r.constant, r.enabled,
       r.insertion_order, r.scan_depth, r.whole_words, r.case_sensitive, r.probability, r.exclude_recursion,
       r.prevent_recursion, r.delay_until_recursion, r.extra
FROM jsonb_populate_recordset(NULL::lorebook_entries, $2) AS r
ORDER BY r.uid
RETURNING entry_id;

-- name: save_entry
-- Changes an entry, given as JSON by column.
UPDATE lorebook_entries e
   SET name = r.name, content = r.content, keys = r.keys, secondary_keys = r.secondary_keys, logic = r.logic,
       selective = r.selective, constant = r.constant, enabled = r.enabled, insertion_order = r.insertion_order,
       scan_depth = r.scan_depth, whole_words = r.whole_words, case_sensitive = r.case_sensitive,
       probability = r.probability, exclude_recursion = r.exclude_recursion, prevent_recursion = r.prevent_recursion,
       delay_until_recursion = r.delay_until_recursion, extra = r.extra
  FROM jsonb_populate_record(NULL::lorebook_entries, $2) AS r
 WHERE e.entry_id = $1;

-- name: touch_book
-- Notes when a lorebook was changed.
UPDATE lorebooks SET updated_at = $2 WHERE lorebook_id = $1;

-- name: remove_entry
-- Removes an entry.
DELETE FROM lorebook_entries WHERE entry_id = $1;

-- name: count_lineage
-- How many lorebooks of a server only the personas of a lineage know.
SELECT count(*) FROM lorebooks WHERE server_id = $1 AND persona_lineage_id = $2;

-- name: counts
-- How many lorebooks and entries there are, in all servers.
SELECT (SELECT count(*) FROM lorebooks) AS books, (SELECT count(*) FROM lorebook_entries) AS entries;
