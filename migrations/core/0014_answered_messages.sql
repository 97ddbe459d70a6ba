-- Which message an event brought: an edit finds the answer that was given to what stood there before.
ALTER TABLE inbound_events ADD COLUMN message_id text;
CREATE INDEX inbound_answered ON inbound_events (platform, message_id) WHERE state = 'answered';
CREATE INDEX outbox_deletions ON outbox (platform, message_id) WHERE kind = 'withdraw';
