-- What a bridge must still know after a restart: sync tokens, managed webhooks, where it had read to.
CREATE TABLE bridge_state (
    bridge      text NOT NULL,
    key         text NOT NULL,
    value       text NOT NULL,
    is_secret   boolean NOT NULL DEFAULT false,
    updated_at  timestamptz NOT NULL,
    PRIMARY KEY (bridge, key)
);
COMMENT ON COLUMN bridge_state.is_secret IS 'The value is encrypted with the key of this deployment.';
