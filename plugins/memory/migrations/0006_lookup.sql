-- One index instead of two: it finds the near-duplicate among the rows of an owner and lineage, and counts these.
CREATE INDEX server_memories_lookup ON server_memories (server_id, persona_lineage_id, content_key);
DROP INDEX server_memories_owner;
DROP INDEX server_memories_key;
CREATE INDEX personal_memories_lookup ON personal_memories (user_id, persona_lineage_id, content_key);
DROP INDEX personal_memories_owner;
DROP INDEX personal_memories_key;
