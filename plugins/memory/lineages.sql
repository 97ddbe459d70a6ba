-- name: count_lineage
-- How many memories of a server, and of people that were learned there, a lineage holds.
SELECT (SELECT count(*) FROM server_memories WHERE server_id = $1 AND persona_lineage_id = $2) AS server_memories,
       (SELECT count(*) FROM personal_memories WHERE source_server_id = $1 AND persona_lineage_id = $2)
           AS personal_memories;
