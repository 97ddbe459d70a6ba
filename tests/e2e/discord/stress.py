"""Many people in many channels of Discord at once: on a sound Discord (load), or on a failing one (chaos)."""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from agent.app import Agent
from agent.bridge import Bridge
from agent.models.chat import ChatModel
from agent.store.embedded import EmbeddedServer
from agent.testing.app import running_agent
from agent.testing.database import temporary_data_directory
from agent.testing.loop_watch import LoopWatch
from benchmarks.common import percentiles, resident_mb
from bridges.discord import DiscordBridge
from tests.bridges.discord.worlds import settings_of
from tests.e2e.stress import echo_model
from tests.servers.discord.faults import Fault
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.records import Channel, Message, User

NUMBER = re.compile(r"number (\d+)\b")
PERSONA = "Rosalind"
ENDED = "SELECT event_id, state FROM inbound_events"
NOT_SENT = "SELECT event_id, state FROM outbox WHERE state NOT IN ('sent', 'pending', 'sending')"


@dataclass(frozen=True)
class Scale:
    """How many take part, and for how long."""

    guilds: int = 20
    channels: int = 10
    """Of each guild."""
    people: int = 5
    """Of each channel, all of whom talk at once."""
    seconds: float = 60.0
    pause: float = 0.0
    """Seconds between an answer and the next question of a person."""
    patience: float = 120.0
    """Seconds that somebody waits for an answer before they go on."""


@dataclass
class Crowd:
    """What they say, and what came of it."""

    discord: LoopbackDiscord
    scale: Scale
    calls: dict[int, str] = field(default_factory=dict)
    """By channel: how the one is called who shall answer; without an entry it is the agent by its mention."""
    said: dict[int, Message] = field(default_factory=dict)
    waited: list[float] = field(default_factory=list)
    in_vain: int = 0
    channels: list[tuple[Channel, list[User]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._numbers = count()
        self._came: dict[int, asyncio.Event] = {}
        for number in range(self.scale.guilds):
            guild = self.discord.guild(f"G{number}")
            people = [guild.member(f"p{number}-{each}") for each in range(self.scale.people)]
            self.channels += [(guild.channel(f"c{each}"), people) for each in range(self.scale.channels)]

    async def talk(self) -> float:
        """Let everybody ask, and ask again when they were answered; return the seconds until all are done."""
        began = time.monotonic()
        watching = asyncio.create_task(self._watch())
        try:
            talks = (self._ask(channel, user, began) for channel, people in self.channels for user in people)
            await asyncio.gather(*talks)
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
        return time.monotonic() - began

    async def _ask(self, channel: Channel, user: User, began: float) -> None:
        while time.monotonic() - began < self.scale.seconds:
            number, asked = next(self._numbers), time.monotonic()
            called = self.calls.get(channel.id, self.discord.bot.mention)
            came = self._came[number] = asyncio.Event()
            self.said[number] = self.discord.say(user, channel, f"{called} this is number {number}")
            try:
                async with asyncio.timeout(self.scale.patience):
                    await came.wait()
                self.waited.append(time.monotonic() - asked)
            except TimeoutError:
                self.in_vain += 1
            del self._came[number]
            await asyncio.sleep(self.scale.pause)

    async def _watch(self) -> None:
        """Wake who was answered."""
        seen = {channel.id: 0 for channel, _ in self.channels}
        while True:
            for channel, _ in self.channels:
                held = self.discord.core.world.messages.get(channel.id, {})
                for message in list(held.values())[seen[channel.id] :]:
                    if self.discord.is_own(message) and (number := self.number_of(message)) in self._came:
                        self._came[number].set()
                seen[channel.id] = len(held)
            await asyncio.sleep(0.01)

    def number_of(self, message: Message) -> int | None:
        """Which question a message of the agent answers; None for a notice that names none."""
        found = NUMBER.findall(message.content)
        if found:
            return int(found[-1])
        return next((number for number, one in self.said.items() if one.id == message.reply_to), None)

    def answers(self) -> dict[int, list[Message]]:
        """What the agent said to each question, in order of the channel."""
        found: dict[int, list[Message]] = {number: [] for number in self.said}
        for channel, _ in self.channels:
            for message in self.discord.messages(channel):
                if self.discord.is_own(message) and (number := self.number_of(message)) is not None:
                    found[number].append(message)
        return found

    def disordered(self) -> list[int]:
        """The channels whose answers do not stand in the order of their questions."""
        orders: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for number, messages in self.answers().items():
            orders[self.said[number].channel_id] += [(each.id, number) for each in messages]
        return [
            channel
            for channel, pairs in orders.items()
            if [number for _, number in sorted(pairs)] != sorted(number for _, number in pairs)
        ]


@asynccontextmanager
async def answering(discord: LoopbackDiscord, database_url: str, model: ChatModel) -> AsyncIterator[Agent]:
    """Run an agent in a loopback Discord."""
    bridge: Bridge = DiscordBridge(settings_of(discord))
    async with running_agent(database_url, {"plugins": {"privacy": {}}}, bridge=bridge, model=model) as agent:
        yield agent


async def load(crowd: Crowd, agent: Agent) -> dict[str, Any]:
    """Talk on a sound Discord; assert that nothing is lost, doubled or out of order; return the figures.

    Discord runs in the same process: the figures of memory and stalls are of both together.
    """
    watch, idle = LoopWatch(), resident_mb()
    watch.start()
    try:
        elapsed = await crowd.talk()
        await agent.idle()
    finally:
        stalls = watch.stop()
    answers = crowd.answers()
    assert {number: len(each) for number, each in answers.items()} == dict.fromkeys(crowd.said, 1)
    assert all(each[0].channel_id == crowd.said[number].channel_id for number, each in answers.items())
    assert crowd.disordered() == []
    assert await _states(agent) == {"answered": len(crowd.said)}
    return {
        "guilds": crowd.scale.guilds,
        "channels": len(crowd.channels),
        "people_in_each": crowd.scale.people,
        "messages": len(crowd.said),
        "messages_per_second": round(len(crowd.said) / elapsed, 1),
        "latency": percentiles(crowd.waited),
        "resident_mb": {"idle": idle, "at_the_end": resident_mb()},
        "longest_stall_ms": round(watch.longest * 1000, 1),
        "stalls_over_50_ms": len(stalls),
    }


@dataclass
class Storm:
    """What goes wrong meanwhile."""

    discord: LoopbackDiscord
    server: EmbeddedServer
    rng: random.Random
    drops: Counter[str] = field(default_factory=Counter)

    def begin(self) -> list[Fault]:
        """Let one request in three go wrong."""
        faults = [
            Fault(status=429, retry_after=0.1),
            Fault(status=500, message="500: Server Error"),
            Fault(lost=True),
        ]
        self.discord.faults.sometimes(1 / 3, self.rng, *faults)
        self.discord.gateway.replays = 3
        return faults

    async def drop(self, seconds: float, every: float) -> None:
        """Lose the gateway every few seconds, in one of four ways."""
        end = time.monotonic() + seconds
        while time.monotonic() + every < end:
            await asyncio.sleep(every * self.rng.uniform(0.7, 1.3))
            way = self.rng.choice(("cut", "closed", "reconnect", "invalid"))
            self.drops[way] += 1
            gateway = self.discord.gateway
            if way == "cut":
                gateway.drop()
            elif way == "closed":
                gateway.drop(4000)
            elif way == "reconnect":
                gateway.reconnect()
            else:
                gateway.invalidate(resumable=False)

    async def restart(self, after: float) -> None:
        """Restart the database once."""
        await asyncio.sleep(after)
        await asyncio.to_thread(self.server.stop)
        await asyncio.to_thread(self.server.ensure_running)


async def chaos(scale: Scale, *, every: float, seed: int = 5) -> dict[str, Any]:
    """Talk while things break; assert that each question has one answer or notice, or is counted; return figures."""
    rng = random.Random(seed)
    with temporary_data_directory() as directory:
        server = EmbeddedServer(directory)
        await asyncio.to_thread(server.ensure_running)
        try:
            async with LoopbackDiscord(check_requests=False) as discord:
                crowd, storm = Crowd(discord, scale), Storm(discord, server, rng)
                async with answering(discord, server.dsn, echo_model()) as agent:
                    return await _rage(crowd, storm, agent, every)
        finally:
            await asyncio.to_thread(server.stop)


async def _rage(crowd: Crowd, storm: Storm, agent: Agent, every: float) -> dict[str, Any]:
    discord, scale = crowd.discord, crowd.scale
    await _give_persona(crowd)
    faults = storm.begin()
    await asyncio.gather(crowd.talk(), storm.drop(scale.seconds, every), storm.restart(scale.seconds / 2))
    discord.faults.clear()
    await discord.connected(timeout=60)
    await _quiet(crowd, agent)
    return await _reckon(crowd, storm, agent, faults)


async def _give_persona(crowd: Crowd) -> None:
    """Let a persona answer in every other channel: through webhooks, which know no key."""
    for channel, _ in crowd.channels[::2]:
        crowd.calls[channel.id] = f"{PERSONA},"
    guilds = {channel.guild_id: channel for channel, _ in crowd.channels}
    for guild_id, channel in guilds.items():
        owner = crowd.discord.core.world.users[crowd.discord.core.world.guilds[guild_id or 0].owner_id]
        made = await crowd.discord.slash(owner, channel, "persona create", {"name": PERSONA})
        assert PERSONA in made.text, made.text


async def _quiet(crowd: Crowd, agent: Agent, patience: float = 60.0) -> None:
    """Return when nothing has been going on for some seconds: what was missed is fetched, what failed tried again."""
    end, still, before = time.monotonic() + patience, 0, -1
    while still < 4 and time.monotonic() < end:
        await agent.idle()
        now = sum(len(crowd.discord.messages(channel)) for channel, _ in crowd.channels)
        async with agent.core.store.connection() as conn:
            open_ones = await conn.fetchval(
                "SELECT (SELECT count(*) FROM inbound_events WHERE state IN ('received', 'running'))"
                " + (SELECT count(*) FROM outbox WHERE state IN ('pending', 'sending'))"
            )
        still = still + 1 if now == before and not open_ones else 0
        before = now
        await asyncio.sleep(0.5)


async def _reckon(crowd: Crowd, storm: Storm, agent: Agent, faults: list[Fault]) -> dict[str, Any]:
    answers = crowd.answers()
    async with agent.core.store.connection() as conn:
        given_up = {row["event_id"]: row["state"] for row in await conn.fetch(NOT_SENT)}
        states = {row["event_id"]: row["state"] for row in await conn.fetch(ENDED)}
    counted = set(given_up) | {event_id for event_id, state in states.items() if state == "abandoned"}
    lost = [number for number, each in answers.items() if not each and str(crowd.said[number].id) not in counted]
    doubled = [number for number, each in answers.items() if len(each) > 1]
    assert lost == [], [(crowd.said[number], states.get(str(crowd.said[number].id))) for number in lost][:5]
    assert doubled == [], [[one.content for one in answers[number]] for number in doubled][:5]
    unknown = {event_id for event_id, state in given_up.items() if state == "unknown"}
    by_webhook = {str(one.id) for one in crowd.said.values() if one.channel_id in crowd.calls}
    assert unknown <= by_webhook, "what has a key is never unknown"
    return {
        "seconds": crowd.scale.seconds,
        "gateway_drops": dict(storm.drops),
        "rest_faults": {str(each.status or "lost"): each.met for each in faults},
        "database_restarts": 1,
        "messages": len(crowd.said),
        "answered": sum(map(bool, answers.values())),
        "counted": dict(Counter(given_up.values()) + Counter(states.values())),
        "waited_in_vain": crowd.in_vain,
        "latency": percentiles(crowd.waited),
    }


async def _states(agent: Agent) -> dict[str, int]:
    async with agent.core.store.connection() as conn:
        return dict(Counter(row["state"] for row in await conn.fetch(ENDED)))
