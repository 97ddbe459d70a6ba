-- Whether both sides of a link agree: an operator speaks for both, who manages the channel for that side alone.
ALTER TABLE relay_links ADD COLUMN is_agreed boolean NOT NULL DEFAULT false;
