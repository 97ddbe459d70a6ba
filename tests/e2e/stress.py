"""Many conversations at once, on a sound platform and database (load) or on failing ones (chaos)."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from collections import Counter, defaultdict
from itertools import count
from pathlib import Path
from typing import Any

from agent.app import Agent
from agent.bridge import OutgoingMessage
from agent.models.chat import ChatModel
from agent.models.offline import sight_of
from agent.store.embedded import EmbeddedServer
from agent.testing.app import running_agent
from agent.testing.database import temporary_data_directory
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from agent.testing.fake_values import FakeMessage, Lost, NothingCame, Refused, SendFault
from agent.testing.loop_watch import LoopWatch
from benchmarks.common import percentiles, resident_mb

CONVERSATIONS = 32
PATIENCE = 120.0
CHAOS_PATIENCE = 8.0
ENDED = "SELECT event_id, state FROM inbound_events"
NOT_SENT = "SELECT event_id, state FROM outbox WHERE state NOT IN ('sent', 'pending', 'sending')"


def echo_model() -> ChatModel:
    """Return a model that says at once what it was told."""
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    async def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse([TextPart(f"You said: {sight_of(messages, ()).text}")])

    return ChatModel("echo", FunctionModel(respond, model_name="echo"), streams=False)


class Talk:
    """What many people say at once, and how long each waited for the answer."""

    def __init__(
        self,
        platform: FakePlatform,
        *,
        conversations: int = CONVERSATIONS,
        seed: int = 1,
        text: str = "this is number {}",
    ) -> None:
        self.platform = platform
        self._text = text
        self._numbers = count()
        self.said: list[FakeMessage] = []
        self.waited: list[float] = []
        self._conversations = conversations
        self._seed = seed

    async def go_on(self, seconds: float) -> None:
        """Talk for some seconds: each conversation says one to four things and waits for the answers."""
        end = time.monotonic() + seconds
        await asyncio.gather(*(self._converse(number, end) for number in range(self._conversations)))

    async def _converse(self, number: int, end: float) -> None:
        rng = random.Random(self._seed * 1000 + number)
        while time.monotonic() < end:
            began = time.monotonic()
            burst = [await self._say(number) for _ in range(rng.randint(1, 4))]
            for message in burst:
                await self._answered(message)
                self.waited.append(time.monotonic() - began)

    async def _say(self, number: int) -> FakeMessage:
        text = self._text.format(next(self._numbers))
        place = (f"room{number}", f"server{number % 4}")
        message = await self.platform.say(f"person{number}", text, channel=place[0], server=place[1])
        self.said.append(message)
        return message

    async def _answered(self, message: FakeMessage) -> None:
        await self.platform.answer(message, timeout=PATIENCE)

    def in_order(self) -> bool:
        """Tell whether the answers of each channel stand in the order of what they answer."""
        answered: defaultdict[str, list[int]] = defaultdict(list)
        for message in self.platform.from_agent:
            if message.event_id is not None:
                answered[message.channel.external_id].append(int(message.event_id.partition(":")[2]))
        return all(numbers == sorted(numbers) for numbers in answered.values())


async def load(agent: Agent, platform: FakePlatform, seconds: float) -> dict[str, Any]:
    """Talk on sound parts; assert that nothing is lost, doubled or out of order; return the figures."""
    talk, watch, idle = Talk(platform), LoopWatch(), resident_mb()
    watch.start()
    began = time.monotonic()
    try:
        await talk.go_on(seconds)
        elapsed = time.monotonic() - began
        await agent.idle()
    finally:
        stalls = watch.stop()
    assert _answers(talk) == {1: len(talk.said)}, "a message has no answer, or several"
    assert [m for m in talk.said if platform.answers_to(m)[0].text != f"You said: {m.text}"] == []
    assert talk.in_order()
    assert await _states(agent) == {"answered": len(talk.said)}
    assert platform.sends.repeated == {}
    return {
        "conversations": CONVERSATIONS,
        "messages": len(talk.said),
        "messages_per_second": round(len(talk.said) / elapsed, 1),
        "latency": percentiles(talk.waited),
        "resident_mb": {"idle": idle, "at_the_end": resident_mb()},
        "longest_stall_ms": round(watch.longest * 1000, 1),
        "stalls_over_50_ms": len(stalls),
    }


class PatientTalk(Talk):
    """Goes on when an answer does not come: whether it was given up is looked up at the end."""

    async def _answered(self, message: FakeMessage) -> None:
        try:
            await self.platform.answer(message, timeout=CHAOS_PATIENCE)
        except NothingCame:
            self.in_vain += 1

    in_vain = 0


class Chaos:
    """Kills the database server now and then, and lets one send in three go wrong."""

    def __init__(self, server: EmbeddedServer, directory: Path, *, seed: int) -> None:
        self.kills = 0
        self.faults: Counter[str] = Counter()
        self._server = server
        self._pid_file = directory / "postgres" / "postmaster.pid"
        self._rng = random.Random(seed)

    def send_fault(self, _message: OutgoingMessage, _tries: int) -> SendFault | None:
        """Let one send in three go wrong, in one of three ways."""
        fault = self._rng.choice(
            (Refused("busy", retry_after=0.05), Lost(posted=True), Lost(posted=False), *[None] * 6)
        )
        self.faults[str(fault)] += 1
        return fault

    async def rage(self, seconds: float, every: float) -> None:
        """Kill the server every few seconds, and start it again a moment later."""
        end = time.monotonic() + seconds
        while time.monotonic() + every < end:
            await asyncio.sleep(every * self._rng.uniform(0.7, 1.3))
            os.kill(int(self._pid_file.read_text().split()[0]), signal.SIGKILL)
            self.kills += 1
            await asyncio.sleep(self._rng.uniform(0.1, 1.0))
            await asyncio.to_thread(self._server.ensure_running)


async def chaos(
    agent: Agent,
    platform: FakePlatform,
    server: EmbeddedServer,
    directory: Path,
    *,
    seconds: float,
    every: float,
    text: str = "this is number {}",
) -> dict[str, Any]:
    """Talk while things break; assert that each message has one answer or is counted; return the figures."""
    storm, talk = Chaos(server, directory, seed=5), PatientTalk(platform, seed=2, text=text)
    platform.events.doubled = True
    platform.sends.fail_by(storm.send_fault)
    await asyncio.gather(talk.go_on(seconds), storm.rage(seconds, every))
    platform.sends.fail_by(None)
    await agent.idle()
    answers, states = _answers(talk), await _states(agent)
    async with agent.core.store.connection() as conn:
        given_up = Counter(row["state"] for row in await conn.fetch(NOT_SENT))
        counted = {row["event_id"] for row in await conn.fetch(NOT_SENT)}
        counted |= {row["event_id"] for row in await conn.fetch(ENDED) if row["state"] == "abandoned"}
    unanswered = [message for message in talk.said if not platform.answers_to(message)]
    assert set(answers) <= {0, 1}, "a message was answered more than once"
    assert [message for message in unanswered if message.event_id not in counted] == []
    assert len(unanswered) <= 0.02 * len(talk.said)
    assert platform.sends.doubled == {}
    assert states.keys() <= {"answered", "abandoned"}
    assert talk.in_order()
    return {
        "seconds": seconds,
        "server_kills": storm.kills,
        "send_faults": dict(storm.faults),
        "messages": len(talk.said),
        "answered": answers[1],
        "counted": {**states, **given_up},
        "latency": percentiles(talk.waited),
    }


async def storm(*, seconds: float, every: float, remember: bool) -> dict[str, Any]:
    """Run an agent in chaos, on a database server of its own; with `remember` each message saves a memory."""
    platform = FakePlatform()
    settings = {"plugins": {"memory": {"max_server_memories": 10_000, "saves_per_hour": 100_000}}}
    text = "remember that the word number {} is chosen" if remember else "this is number {}"
    model = None if remember else echo_model()
    with temporary_data_directory() as directory:
        server = EmbeddedServer(directory)
        await asyncio.to_thread(server.ensure_running)
        try:
            async with running_agent(server.dsn, settings, bridge=FakeBridge(platform=platform), model=model) as agent:
                place = (agent, platform, server, directory)
                figures = await chaos(*place, seconds=seconds, every=every, text=text)
                told = await memories_agree(agent, platform) if remember else {}
        finally:
            await asyncio.to_thread(server.stop)
    return {**figures, "told": told}


async def memories_agree(agent: Agent, platform: FakePlatform) -> dict[str, int]:
    """Assert that what people were told of their memories is what is kept; return how many were told what."""
    async with agent.core.store.connection() as conn:
        rows = await conn.fetch("SELECT server_memory_id, source_message_id FROM server_memories")
    kept = {row["source_message_id"]: row["server_memory_id"] for row in rows}
    assert len(kept) == len(rows), "a message has two memories"
    told: Counter[str] = Counter()
    for message in platform.messages:
        for answer in platform.answers_to(message):
            saved = answer.text.startswith("I will remember that")
            told["saved" if saved else answer.text] += 1
            assert saved == (message.message_id in kept), answer
            assert not saved or f"(ID {kept[message.message_id]})" in answer.text
    notices = Counter(m.card.memory_id for m in platform.from_agent if m.card is not None)
    assert notices.keys() <= set(kept.values())
    assert set(notices.values()) <= {1}
    return dict(told)


def _answers(talk: Talk) -> Counter[int]:
    """Return how many messages have how many answers."""
    return Counter(len(talk.platform.answers_to(message)) for message in talk.said)


async def _states(agent: Agent) -> dict[str, int]:
    async with agent.core.store.connection() as conn:
        return dict(Counter(row["state"] for row in await conn.fetch(ENDED)))
