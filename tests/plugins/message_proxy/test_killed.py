"""kill -9 while messages are held: each is answered once or given up, and never twice."""

import asyncio
import sys
from collections import Counter
from datetime import UTC, datetime

import pytest

from agent.testing.app import running_agent
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from agent.testing.scripted_model import ScriptedModel
from tests.plugins.message_proxy.dying import SETTINGS, made_ready, some_cases
from tests.plugins.message_proxy.matrix import event


@pytest.mark.unwatched_loop  # the loop waits for the start of another process
@pytest.mark.parametrize("killed_after", [0.3, 0.7, 1.1, 1.6])
async def test_each_ends_answered_once_or_given_up(database_url: str, killed_after: float) -> None:
    begin, end = 2000, 2040
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.plugins.message_proxy.dying",
        database_url,
        str(begin),
        str(end),
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert await asyncio.wait_for(process.stdout.readline(), 60) == b"ready\n"
    await asyncio.sleep(killed_after)
    process.kill()
    await process.wait()

    cases = some_cases(begin, end)
    model = ScriptedModel(default="Well.")
    async with running_agent(database_url, SETTINGS, bridge=FakeBridge(platform=FakePlatform()), model=model) as agent:
        await made_ready(agent, cases)
        # The bridge brings what it missed, and some of what the dead process had taken already.
        for case in cases:
            for step in case.order:
                await agent.receive(event(case, step, datetime.now(UTC)))
        await agent.idle()
        async with agent.core.store.connection() as conn:
            states = {row["event_id"]: row["state"] for row in await conn.fetch("SELECT * FROM inbound_events")}
            sent = Counter(row["event_id"] for row in await conn.fetch("SELECT event_id FROM outbox"))
        assert not {"received", "running"} & set(states.values())
        for case in cases:
            ids = [each for each in (case.original_id, case.repost_id) if each in states]
            answered = [each for each in ids if states[each] == "answered"]
            assert len(answered) <= 1, (case, {each: states[each] for each in ids})
            assert sum(sent[each] for each in ids) == len(answered), case
        assert sum(states[each] == "answered" for each in states) > len(cases) / 2
