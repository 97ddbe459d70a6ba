-- Planning the look at whom a write rests on costs seven times what running it does, and its plan never depends on the
-- values: PostgreSQL plans it once a connection.
ALTER FUNCTION facts_for_write(bigint[], bigint[], bigint, bigint) SET plan_cache_mode = 'force_generic_plan';
