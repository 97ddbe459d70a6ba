"""What a relay carries: `python -m benchmarks.bench_relay` prints JSON.

A whole agent joins a room of a real Synapse (on SQLite, in a process of its own) with a channel of the loopback Discord
(in this process). `paced` is one message at a time, a while apart; in a `burst` all are said as fast as they are taken,
so that its delays are those of the queue. The database writes to the disk with fsync on.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agent import logs
from agent.testing.database import DatabaseCluster
from agent.testing.loop_watch import LoopWatch
from benchmarks.common import durable_cluster, percentiles, resident_mb
from tests.bridges.relay.conftest import served
from tests.bridges.relay.worlds import RelayWorld, Service, relay_world
from tests.servers.discord.loopback import LoopbackDiscord

GOALS: Final = {"longest_stall_ms": 20}
PATIENCE: Final = 300.0
type Say = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured, each way."""

    paced: int = 100
    pause: float = 0.05
    burst: int = 1_000


@dataclass(slots=True)
class Side:
    """One direction: how something is said, and what has been seen of it on the other side."""

    say: Say
    seen: dict[str, float]


async def run(cluster: DatabaseCluster, service: Service, scale: Scale) -> dict[str, Any]:
    """Measure both ways."""
    with cluster.fresh() as url:
        async with LoopbackDiscord(check_requests=False) as discord, relay_world(service, discord, url) as world:
            idle = resident_mb()
            to_discord, to_matrix = _from_room(world), await _from_channel(world)
            await _one_way(to_discord, "warm", Scale(paced=10, burst=20))
            await _one_way(to_matrix, "warm", Scale(paced=10, burst=20))
            watch = LoopWatch()
            watch.start()
            figures = {
                "to_discord": await _one_way(to_discord, "d", scale),
                "to_matrix": await _one_way(to_matrix, "m", scale),
            }
            faults = watch.stop()
            memory = {"idle": idle, "at_the_end": resident_mb()}
    return {
        "goals": GOALS,
        **figures,
        "longest_stall_ms": round(watch.longest * 1000, 2),
        "stalls_over_50_ms": faults,
        "resident_mb": memory,
    }


async def _one_way(side: Side, name: str, scale: Scale) -> dict[str, Any]:
    said: dict[str, float] = {}

    async def say(text: str) -> None:
        said[text] = time.perf_counter()
        await side.say(text)

    for number in range(scale.paced):
        text = f"{name} paced {number}"
        await say(text)
        await _seen(side, {text})
        await asyncio.sleep(scale.pause)
    paced = [side.seen[text] - said[text] for text in said]
    began = time.perf_counter()
    texts = [f"{name} burst {number}" for number in range(scale.burst)]
    for text in texts:
        await say(text)
    await _seen(side, set(texts))
    elapsed = max(side.seen[text] for text in texts) - began
    return {
        "paced_delay": percentiles(paced),
        "burst": {
            "messages_per_second": round(scale.burst / elapsed, 1),
            "delay": percentiles([side.seen[text] - said[text] for text in texts]),
        },
    }


async def _seen(side: Side, texts: set[str]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not texts <= side.seen.keys():  # noqa: ASYNC110 - both sides are looked at from outside
            await asyncio.sleep(0.002)


def _from_room(world: RelayWorld) -> Side:
    """Return the way from the room to the channel; each message is seen when the channel has it."""
    seen: dict[str, float] = {}

    async def say(text: str) -> None:
        await world.cyn.say(world.room, text)

    async def look() -> None:
        known = 0
        while True:
            messages = world.discord.messages(world.general)
            for message in messages[known:]:
                seen.setdefault(message.content, time.perf_counter())
            known = len(messages)
            await asyncio.sleep(0.002)

    _TASKS.append(asyncio.ensure_future(look()))
    return Side(say, seen)


async def _from_channel(world: RelayWorld) -> Side:
    """Return the way from the channel to the room; each message is seen when a client there has it."""
    seen: dict[str, float] = {}
    first = await world.cyn.call("GET", "v3/sync", None, timeout="0")

    async def say(text: str) -> None:
        world.discord.say(world.mara, world.general, text)
        await asyncio.sleep(0)

    async def look() -> None:
        since = first["next_batch"]
        room_filter = json.dumps({"room": {"timeline": {"limit": 500}}})
        while True:
            found = await world.cyn.call("GET", "v3/sync", None, timeout="5000", since=since, filter=room_filter)
            since, now = found["next_batch"], time.perf_counter()
            joined = found.get("rooms", {}).get("join", {}).get(world.room, {})
            for event in joined.get("timeline", {}).get("events", []):
                seen.setdefault(str(event["content"].get("body")), now)

    _TASKS.append(asyncio.ensure_future(look()))
    return Side(say, seen)


_TASKS: list[asyncio.Future[None]] = []


async def _run(cluster: DatabaseCluster, service: Service, scale: Scale) -> dict[str, Any]:
    try:
        return await run(cluster, service, scale)
    finally:
        for task in _TASKS:
            task.cancel()
        await asyncio.gather(*_TASKS, return_exceptions=True)


def main() -> None:
    """Print the figures."""
    logs.configure("json", "error", sys.stderr)
    with durable_cluster() as cluster, tempfile.TemporaryDirectory() as folder:
        for service in served(Path(folder)):
            print(json.dumps(asyncio.run(_run(cluster, service, Scale())), indent=2))


if __name__ == "__main__":
    main()
