-- Tables of the presets plugin. Moments always come from the caller: nothing here calls now().
-- Whoever changes a preset holds its server's row; what is cached hangs on the revision of 'presets:<server>'.

CREATE TABLE presets (
    preset_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    server_id   bigint NOT NULL REFERENCES servers ON DELETE CASCADE,
    name        text NOT NULL CHECK (name <> ''),
    prompts     jsonb NOT NULL,
    samplers    jsonb NOT NULL,
    in_use      boolean NOT NULL DEFAULT false,
    created_at  timestamptz NOT NULL
);
CREATE UNIQUE INDEX presets_name ON presets (server_id, lower(name));
CREATE UNIQUE INDEX presets_in_use ON presets (server_id) WHERE in_use;
COMMENT ON COLUMN presets.prompts IS 'The prompts and markers in their order, as a list of objects.';
COMMENT ON COLUMN presets.samplers IS 'Settings of the model by SillyTavern''s names: kept, not applied.';
