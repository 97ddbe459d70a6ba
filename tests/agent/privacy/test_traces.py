import json
from datetime import timedelta

from agent.events import MessageCreated, dump_event
from agent.privacy.traces import end_turns
from tests.agent.identity.builders import GENERAL, HOME, NOW, author
from tests.agent.privacy.conftest import Home

LATER = NOW + timedelta(minutes=1)
ME = 1


async def run(home: Home, *ids: str) -> None:
    """Let turns be under way, each with a checkpoint."""
    async with home.store.connection() as conn:
        for each in ids:
            event = MessageCreated("console", f"event-{each}", each, HOME, GENERAL, author("ben"), "hello", NOW)
            await conn.execute(
                "INSERT INTO inbound_events (platform, event_id, state, worker, conversation, payload, received_at)"
                " VALUES ('console', $1, 'running', $2, 'c', $3::text::jsonb, $4)",
                event.event_id,
                ME,
                dump_event(event),
                NOW,
            )
            await conn.execute(
                "INSERT INTO turn_checkpoints VALUES ('console', $1, 0, $2::text::jsonb)",
                event.event_id,
                json.dumps("what was learned"),
            )


async def test_a_turn_that_has_just_learned_it_ends(home: Home) -> None:
    await run(home, "m1", "m2")
    async with home.store.transaction() as conn:
        await end_turns(conn, [("console", "m1"), ("console", "m1"), ("matrix", "m2")], LATER)
    async with home.store.connection() as conn:
        states = await conn.fetch("SELECT event_id, state, payload IS NULL AS gone FROM inbound_events ORDER BY 1")
        checkpoints = await conn.fetch("SELECT event_id FROM turn_checkpoints")
    assert [tuple(row) for row in states] == [("event-m1", "abandoned", True), ("event-m2", "running", False)]
    assert [row["event_id"] for row in checkpoints] == ["event-m2"]
