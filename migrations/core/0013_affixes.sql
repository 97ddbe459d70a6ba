-- What a persona puts before or behind people's names, as `master` or `-chan`: no part of a name that is looked for.
ALTER TABLE personas ADD COLUMN affixes text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN personas.affixes IS 'Words around people''s names, as a persona says them; peeled off before a name is looked for again.';
