-- A Matrix room and a channel of another platform as one conversation, and people who are in it from elsewhere.

-- Which room and channel are linked. Whoever links or unlinks writes what is wanted; the relay makes it so.
CREATE TABLE relay_links (
    link_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    room_id     text NOT NULL UNIQUE,
    platform    text NOT NULL,
    server      text NOT NULL,
    channel     text NOT NULL,
    state       text NOT NULL CHECK (state IN ('asked', 'linked', 'ending')),
    reason      text,
    created_at  timestamptz NOT NULL,
    changed_at  timestamptz NOT NULL,
    UNIQUE (platform, channel)
);
COMMENT ON COLUMN relay_links.reason IS 'Why it is not linked yet, or ends: a word of the relay.';

-- What was heard on either side and is to be carried over, in order within a room.
CREATE TABLE relay_events (
    relay_event_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    side            text NOT NULL CHECK (side IN ('matrix', 'discord')),
    event_id        text NOT NULL,
    room_id         text NOT NULL,
    kind            text NOT NULL,
    target          text,
    state           text NOT NULL CHECK (state IN ('waiting', 'early', 'done', 'set_aside')),
    attempts        smallint NOT NULL DEFAULT 0,
    payload         jsonb,
    reason          text,
    received_at     timestamptz NOT NULL,
    finished_at     timestamptz,
    UNIQUE (side, event_id)
);
CREATE INDEX relay_events_waiting ON relay_events (side, room_id, relay_event_id) WHERE state = 'waiting';
CREATE INDEX relay_events_target ON relay_events (room_id, target) WHERE target IS NOT NULL;
CREATE INDEX relay_events_received ON relay_events (received_at);
COMMENT ON COLUMN relay_events.side IS 'Where it was heard: in the room, or in the channel.';
COMMENT ON COLUMN relay_events.target IS 'The message that it is about, as its own side names it: of edits, deletions, reactions.';
COMMENT ON COLUMN relay_events.payload IS 'What was heard while it waits; null afterwards: no text is kept here.';

-- Which message stands for which on the other side: identity, edits, deletions and replies come from here alone.
CREATE TABLE relay_messages (
    relay_message_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    side              text NOT NULL CHECK (side IN ('matrix', 'discord')),
    room_id           text NOT NULL,
    event_id          text NOT NULL,
    channel           text NOT NULL,
    message_id        text NOT NULL,
    webhook_id        text,
    part              smallint NOT NULL,
    account_id        bigint REFERENCES accounts ON DELETE SET NULL,
    voice             text,
    gone_at           timestamptz,
    created_at        timestamptz NOT NULL,
    UNIQUE (event_id, message_id)
);
CREATE INDEX relay_messages_message ON relay_messages (message_id);
CREATE INDEX relay_messages_account ON relay_messages (account_id);
CREATE INDEX relay_messages_created ON relay_messages (created_at);
COMMENT ON COLUMN relay_messages.side IS 'Where it was said.';
COMMENT ON COLUMN relay_messages.account_id IS 'Who said it; null for the agent, and for whoever was forgotten.';
COMMENT ON COLUMN relay_messages.voice IS 'The Matrix user who says it in the room for somebody elsewhere.';

-- Webhooks of other bridges whose people count as people: an administrator has named them.
CREATE TABLE trusted_webhooks (
    platform    text NOT NULL,
    webhook_id  text NOT NULL,
    server      text NOT NULL,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (platform, webhook_id)
);

-- Somebody may be in a server from another platform: then the account is of that one.
DROP FUNCTION enter_place(text, text, text, text, text, text, text, text, text, text, text, boolean, text, text, text,
                          text, timestamptz);
DROP FUNCTION register_account(text, text, text, text, boolean, text, text, timestamptz);

CREATE FUNCTION enter_place(
    p_platform text, p_server text, p_server_kind text, p_server_name text,
    p_channel text, p_channel_name text, p_visibility text, p_parent text, p_parent_name text,
    p_kind text, p_account text, p_owns_memories boolean,
    p_label text, p_label_normalised text, p_username text, p_username_normalised text,
    p_now timestamptz, p_account_platform text,
    OUT server_id bigint, OUT channel_id bigint, OUT account_id bigint, OUT user_id bigint, OUT username text,
    OUT privacy_level text, OUT forgotten_before timestamptz, OUT blacklisted boolean, OUT is_new boolean,
    OUT revision bigint
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_same boolean;
    v_server bigint;
    v_channel bigint;
    v_account bigint;
    v_user bigint;
BEGIN
    is_new := false;
    SELECT s.server_id, c.channel_id, a.account_id,
           s.name = p_server_name AND s.kind = p_server_kind AND s.purge_after IS NULL
           AND c.server_id = s.server_id AND c.name = p_channel_name AND c.visibility = p_visibility
           AND c.parent_external_id IS NOT DISTINCT FROM p_parent
           AND c.parent_name IS NOT DISTINCT FROM p_parent_name
           AND (a.user_id IS NOT NULL OR NOT p_owns_memories)
           AND a.last_seen_at > p_now - interval '1 hour'
           AND g.value = p_label
           AND (p_username IS NULL OR (a.username = p_username AND u.value = p_username))
    INTO v_server, v_channel, v_account, v_same
    FROM servers s
    JOIN channels c ON c.platform = p_platform AND c.external_id = p_channel
    JOIN accounts a ON a.external_id = p_account AND a.platform = p_account_platform AND a.kind = p_kind
    LEFT JOIN names g ON g.server_id = s.server_id AND g.account_id = a.account_id AND g.source = 'guild'
    LEFT JOIN names u ON u.server_id = s.server_id AND u.account_id = a.account_id AND u.source = 'username'
    WHERE s.platform = p_platform AND s.external_id = p_server;

    IF v_same IS NOT TRUE THEN
        SELECT r.* INTO v_account, v_user, is_new
        FROM register_account(p_platform, p_server, p_kind, p_account, p_owns_memories, p_label, p_username, p_now,
                              p_account_platform) r;
        SELECT r.* INTO v_server, v_channel
        FROM register_channel(p_platform, p_server, p_server_kind, p_server_name,
                              p_channel, p_channel_name, p_visibility, p_parent, p_parent_name, p_now) r;
        PERFORM register_name(v_server, v_account, v_user, 'guild', p_label, p_label_normalised, p_now);
        IF p_username IS NOT NULL THEN
            PERFORM register_name(v_server, v_account, v_user, 'username', p_username, p_username_normalised, p_now);
        END IF;
    END IF;

    SELECT v_server, v_channel, a.account_id, a.user_id, a.username, a.privacy_level, a.forgotten_before,
           EXISTS (SELECT FROM server_blacklist b JOIN accounts x ON x.account_id = b.account_id
                   WHERE b.server_id = v_server AND (x.account_id = a.account_id OR x.user_id = a.user_id)),
           coalesce((SELECT r.revision FROM owner_revisions r WHERE r.owner = 'server:' || v_server), 0)
    INTO server_id, channel_id, account_id, user_id, username, privacy_level, forgotten_before, blacklisted, revision
    FROM accounts a
    WHERE a.account_id = v_account;
END $$;

CREATE FUNCTION register_account(
    p_platform text, p_server text, p_kind text, p_account text, p_owns_memories boolean,
    p_label text, p_username text, p_now timestamptz, p_account_platform text,
    OUT account_id bigint, OUT user_id bigint, OUT is_new boolean
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    is_new := false;
    SELECT a.account_id, a.user_id INTO account_id, user_id
    FROM accounts a
    WHERE a.external_id = p_account AND a.platform = p_account_platform AND a.kind = p_kind
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        INSERT INTO accounts (platform, external_id, kind, username, display_name, created_at, last_seen_at)
        VALUES (p_account_platform, p_account, p_kind, p_username, p_label, p_now, p_now)
        ON CONFLICT DO NOTHING;
        is_new := FOUND;
        SELECT a.account_id, a.user_id INTO STRICT account_id, user_id
        FROM accounts a
        WHERE a.external_id = p_account AND a.platform = p_account_platform AND a.kind = p_kind
        FOR NO KEY UPDATE;
    END IF;
    IF user_id IS NULL AND p_owns_memories THEN
        INSERT INTO users (kind, created_at) VALUES ('account', p_now) RETURNING users.user_id INTO user_id;
    END IF;
    -- The name shown here counts elsewhere only when it has just changed, or two servers would take turns writing it.
    UPDATE accounts a
    SET user_id = register_account.user_id,
        username = coalesce(p_username, a.username),
        last_seen_at = greatest(a.last_seen_at, p_now),
        display_name = CASE WHEN EXISTS (
            SELECT FROM names n JOIN servers s ON s.server_id = n.server_id
            WHERE s.platform = p_platform AND s.external_id = p_server
              AND n.account_id = a.account_id AND n.source = 'guild' AND n.value = p_label
        ) THEN a.display_name ELSE p_label END
    WHERE a.account_id = register_account.account_id
      AND (NOT is_new OR a.user_id IS DISTINCT FROM register_account.user_id);
END $$;
