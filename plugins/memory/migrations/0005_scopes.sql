-- What the backfill of channel scopes looks for: few rows, and in the end none.

CREATE INDEX server_memories_pending ON server_memories (server_id, server_memory_id) WHERE channel_scope_pending;
COMMENT ON COLUMN server_memories.legacy_channel_scope_tags IS
    'Names of channels, as #general, while the scope is pending; empty once it is settled.';
