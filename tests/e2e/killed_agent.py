"""A conversation with an agent that is killed again and again, and what must be true of it afterwards."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent.bridge import Capabilities
from agent.contracts.cards import CardKind
from agent.store.connect import connect
from agent.store.embedded import EmbeddedServer
from agent.testing.fake_platform import FakePlatform
from agent.testing.fake_remote import serve
from agent.testing.fake_values import FakeMessage, Replay
from agent.testing.process import AgentProcess
from tests.e2e.fork_server import ForkedAgent, fork_server

PATIENCE = 30.0

UNFINISHED = """
SELECT (SELECT count(*) FROM inbound_events WHERE state IN ('received', 'running'))
     + (SELECT count(*) FROM outbox WHERE state IN ('pending', 'sending'))
"""
MEMORIES = "SELECT server_memory_id AS id, source_message_id AS message, content FROM server_memories"
HISTORY = "SELECT memory_id, kind FROM memory_events"
STATES = "SELECT event_id, state, attempts FROM inbound_events"
UNKNOWN = "SELECT event_id FROM outbox WHERE state = 'unknown'"


@dataclass
class KilledAgent:
    """An agent, its platform, and what was said to it."""

    platform: FakePlatform
    process: AgentProcess
    database_url: str
    step_file: Path
    tool_log: Path
    said: list[FakeMessage] = field(default_factory=list)

    async def say(self, *, wait: bool = True) -> FakeMessage:
        """Ask for something new to be remembered; without `wait` the agent may not even have it yet."""
        number = len(self.said)
        text = f"remember that the word number {number} is w{number * 7919 % 10007}"
        saying = self.platform.say(
            f"person{number % 5}", text, channel=f"room{number % 3}", server=f"server{number % 2}"
        )
        # An eager task puts the message on the platform before anything else can happen there.
        task = asyncio.Task(saying, loop=asyncio.get_running_loop(), eager_start=True)
        message = self.platform.messages[-1]
        self.said.append(message)
        if wait:
            await task
        else:
            task.add_done_callback(lambda done: done.exception())
        return message

    async def fetch(self, query: str) -> list[dict[str, Any]]:
        """Ask the database."""
        conn = await connect(self.database_url)
        try:
            return [dict(row) for row in await conn.fetch(query)]
        finally:
            await conn.close()

    async def settled(self) -> None:
        """Return when every event is finished and every message settled."""
        async with asyncio.timeout(PATIENCE):
            await self.platform.settled()
            while (await self.fetch(UNFINISHED))[0]["?column?"]:  # noqa: ASYNC110 - a database tells nobody
                await asyncio.sleep(0.01)

    async def check(self) -> Report:
        """Assert what must hold whatever happened, and return how it went."""
        states = {row["event_id"]: row for row in await self.fetch(STATES)}
        memories = await self.fetch(MEMORIES)
        unknown = {row["event_id"] for row in await self.fetch(UNKNOWN)}
        self._check_answers(states, unknown)
        self._check_memories(memories, await self.fetch(HISTORY), states)
        self._check_tools()
        counted = Counter(row["state"] for row in states.values())
        return Report(len(self.said), dict(counted), len(unknown), len(self.platform.sends.repeated))

    def _check_answers(self, states: dict[str, dict[str, Any]], unknown: set[str]) -> None:
        """Assert that each event ended once, and each that ended answered has its one answer."""
        assert self.platform.sends.doubled == {}
        for message in self.said:
            assert message.event_id is not None
            row, answers = states[message.event_id], self.platform.answers_to(message)
            assert row["state"] in {"answered", "abandoned"}, row
            assert row["attempts"] <= 2, row
            expected = {1} if row["state"] == "answered" else {0}
            if message.event_id in unknown:
                expected = {0, 1}  # without keys it is not sent again
            assert len(answers) in expected, (row, answers)
            if answers:
                assert answers[0].text.startswith("I will remember that (ID "), answers[0].text

    def _check_memories(
        self, memories: list[dict[str, Any]], history: list[dict[str, Any]], states: dict[str, dict[str, Any]]
    ) -> None:
        """Assert that what was confirmed is there, once, whole, and nothing else."""
        by_message = {row["message"]: row for row in memories}
        assert len(by_message) == len(memories), "a message has two memories"
        created = Counter(row["memory_id"] for row in history if row["kind"] == "created")
        assert created == Counter(row["id"] for row in memories), "a memory without its event, or an event without it"
        for message in self.said:
            memory = by_message.get(message.message_id)
            if memory is not None:
                assert memory["content"] == message.text.removeprefix("remember that ")
            for answer in self.platform.answers_to(message):
                assert memory is not None, f"confirmed and not there: {message.text}"
                assert f"(ID {memory['id']})" in answer.text
            state = states[message.event_id or ""]["state"]
            assert state == "abandoned" or memory is not None, f"answered and not there: {message.text}"
        for notice in self.platform.from_agent:
            if notice.card is not None and notice.card.kind is CardKind.SAVED:
                assert created[notice.card.memory_id] == 1, f"a notice of what is not there: {notice.card}"

    def _check_tools(self) -> None:
        """Assert that no tool ran again after it had taken effect."""
        runs = list(self.tool_runs())
        assert [run for run in runs if run.get("already")] == []
        assert {run["status"] for run in runs if "status" in run} <= {"memory_saved_successfully"}

    def tool_runs(self) -> Iterator[dict[str, Any]]:
        """Return what the fault plugin told of runs of tools; the last line of a killed agent may be cut."""
        for line in self.tool_log.read_text().splitlines() if self.tool_log.exists() else ():
            if line.endswith("}"):
                yield json.loads(line)


@dataclass(frozen=True, slots=True)
class Report:
    """How it went."""

    messages: int
    states: dict[str, int]
    unknown_sends: int
    repeated_sends: int


@asynccontextmanager
async def killed_agent(
    database_url: str | None,
    directory: Path,
    *,
    pace: float = 0.0,
    has_keys: bool = True,
    plugins: Mapping[str, Any] | None = None,
) -> AsyncIterator[KilledAgent]:
    """Make an agent that is told everything again at each start; not started yet.

    Without an address it has the embedded database, which dies with it.
    """
    capabilities = Capabilities(2000, has_idempotency_key=has_keys)
    platform = FakePlatform(capabilities=capabilities, replay=Replay.EVERYTHING, identity="bot")
    step, tool_log = directory / "step", directory / "tools.jsonl"
    faults = {"module": "tests.e2e.faults", "step": str(step), "log": str(tool_log), "pace": pace}
    tables = {
        "agent": {"embeddings": "off"},
        "database": {"url": database_url or "embedded", "pool_size": 6},
        "plugins": {"memory": {"max_server_memories": 10_000}, "faults": faults, **(plugins or {})},
    }
    process = ForkedAgent(platform, directory, tables)
    address = database_url or EmbeddedServer(directory / "data").dsn
    agent = KilledAgent(platform, process, address, step, tool_log)
    async with fork_server() as process.server, serve(platform, process.socket), process:
        yield agent


@dataclass(slots=True)
class Kills:
    """What came of killing at random moments."""

    interrupted: list[FakeMessage] = field(default_factory=list)
    """Messages without an answer when the agent was killed."""
    too_late: int = 0
    delays: list[float] = field(default_factory=list)


async def kill_at_random(agent: KilledAgent, interruptions: int, seed: int) -> Kills:
    """Kill the agent in the middle of turns, at moments spread over a turn's whole length, and start it again."""
    rng, kills = random.Random(seed), Kills()
    await agent.process.start()
    length = await _turn_length(agent)
    parts = list(range(interruptions))
    rng.shuffle(parts)
    while len(kills.interrupted) < interruptions:
        part = parts[len(kills.delays) % interruptions]
        delay = (part + rng.random()) / interruptions * length
        message = await agent.say(wait=False)
        await asyncio.sleep(delay)
        answered = bool(agent.platform.answers_to(message))
        await agent.process.kill()
        kills.delays.append(delay)
        if answered or agent.platform.answers_to(message):
            kills.too_late += 1
        else:
            kills.interrupted.append(message)
        await agent.process.start()
        await agent.settled()
        await agent.say()  # one that nothing befalls
        await agent.settled()
    return kills


async def _turn_length(agent: KilledAgent) -> float:
    """Return how long a turn takes, from what is said to its last write."""
    clock, seconds = asyncio.get_running_loop().time, []
    for _ in range(5):
        await agent.say()
        await agent.settled()
    for _ in range(5):
        began = clock()
        message = await agent.say(wait=False)
        await agent.platform.answer(message)
        seconds.append(clock() - began)
    await agent.settled()
    return sorted(seconds)[2]
