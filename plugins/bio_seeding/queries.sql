-- name: make_key
-- The key of the digests, made when there is none.
INSERT INTO bio_seeding_key (key) VALUES ($1) ON CONFLICT DO NOTHING;

-- name: read_key
-- The key of the digests.
SELECT key FROM bio_seeding_key;

-- name: seeded
-- What was taken over of somebody's profile.
SELECT what FROM bio_seeds WHERE identity = $1;

-- name: keep
-- Keep that something was taken over.
INSERT INTO bio_seeds (identity, what, written_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING;
