"""What the agent adds to a message: `python -m benchmarks.bench_turns` prints JSON.

A whole agent answers over a fake platform of the same process; its model answers at once. `bare` is the floor: the
three commits that taking an event once and answering it once need at least, without an agent. Both write to the disk
with fsync on.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

import asyncpg

from agent import logs
from agent.app import Agent
from agent.models.chat import ChatModel
from agent.testing.app import running_agent
from agent.testing.database import DatabaseCluster
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from agent.testing.loop_watch import LoopWatch
from benchmarks.common import durable_cluster, percentiles, resident_mb

GOALS: Final = {"overhead_p50_ms": 15, "messages_per_second": 200, "longest_stall_ms": 20}
PATIENCE: Final = 60.0

BARE = """
CREATE TABLE bare_events (id text PRIMARY KEY, state text NOT NULL, payload jsonb);
CREATE TABLE bare_outbox (key text PRIMARY KEY, state text NOT NULL, payload jsonb);
"""
TAKE = "INSERT INTO bare_events VALUES ($1, 'received', $2) ON CONFLICT DO NOTHING"
FINISH = """
WITH done AS (UPDATE bare_events SET state = 'answered', payload = NULL WHERE id = $1 RETURNING id)
INSERT INTO bare_outbox SELECT id, 'pending', $2 FROM done
"""
SETTLE = "UPDATE bare_outbox SET state = 'sent', payload = NULL WHERE key = $1"


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured."""

    alone: int = 400
    """Messages of one conversation, one after another."""
    conversations: int = 32
    each: int = 100
    """Messages of each conversation, when all talk at once."""
    warm_up: int = 40


def instant_model() -> ChatModel:
    """Return a model that answers at once and keeps nothing."""
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel
    from pydantic_ai.usage import RequestUsage

    async def respond(_messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        return ModelResponse([TextPart("Yes, I think so.")], usage=RequestUsage(input_tokens=10, output_tokens=5))

    return ChatModel("instant", FunctionModel(respond, model_name="instant"), streams=False)


async def run(cluster: DatabaseCluster, scale: Scale) -> dict[str, Any]:
    """Measure the agent and the floor."""
    with cluster.fresh() as url:
        bare = await _bare(url, scale)
    with cluster.fresh() as url:
        platform = FakePlatform()
        async with running_agent(url, bridge=FakeBridge(platform=platform), model=instant_model()) as agent:
            figures = await _turns(agent, platform, scale)
    return {"goals": GOALS, "conversations": scale.conversations, **figures, "bare": bare}


async def _turns(agent: Agent, platform: FakePlatform, scale: Scale) -> dict[str, Any]:
    idle = resident_mb()

    async def ask(conversation: int) -> None:
        said = await platform.say(f"person{conversation}", "Shall we play tonight?", channel=f"room{conversation}")
        await platform.answer(said, timeout=PATIENCE)

    await _one_by_one(ask, 0, scale.warm_up)
    alone = await _one_by_one(ask, 0, scale.alone)
    await agent.idle()
    commits = await _commits(agent)
    began, worked = time.perf_counter(), time.process_time()
    together = await _at_once(ask, scale)
    elapsed = time.perf_counter() - began
    await agent.idle()
    worked = time.process_time() - worked
    messages = scale.conversations * scale.each
    commits = await _commits(agent) - commits
    watch = LoopWatch()
    watch.start()
    await _at_once(ask, Scale(conversations=scale.conversations, each=max(scale.each // 2, 1)))
    await agent.idle()
    faults = watch.stop()
    return {
        "overhead": percentiles(alone),
        "at_once": {
            "messages_per_second": round(messages / elapsed, 1),
            "latency": percentiles(together),
            "cpu_ms_per_message": round(worked / messages * 1000, 3),
            "commits_per_message": round(commits / messages, 2),
        },
        "longest_stall_ms": round(watch.longest * 1000, 2),
        "stalls_over_50_ms": faults,
        "resident_mb": {"idle": idle, "at_the_end": resident_mb()},
    }


async def _one_by_one(ask: Callable[[int], Awaitable[None]], conversation: int, times: int) -> list[float]:
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        await ask(conversation)
        seconds.append(time.perf_counter() - began)
    return seconds


async def _at_once(ask: Callable[[int], Awaitable[None]], scale: Scale) -> list[float]:
    talks = (_one_by_one(ask, number, scale.each) for number in range(scale.conversations))
    return [seconds for talk in await asyncio.gather(*talks) for seconds in talk]


async def _commits(agent: Agent) -> int:
    """Return how many transactions the database has ended."""
    await asyncio.sleep(1.1)  # sessions tell their counters once a second
    async with agent.core.store.connection() as conn:
        count: int = await conn.fetchval("SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()")
    return count


async def _bare(url: str, scale: Scale) -> dict[str, Any]:
    async with asyncpg.create_pool(url, min_size=16, max_size=16) as pool:
        await pool.execute(BARE)
        payload = json.dumps({"text": "Shall we play tonight?"})

        async def ask(conversation: int) -> None:
            key = f"{conversation}-{time.perf_counter_ns()}"
            await pool.execute(TAKE, key, payload)
            await pool.execute(FINISH, key, payload)
            await pool.execute(SETTLE, key)

        await _one_by_one(ask, 0, scale.warm_up)
        alone = await _one_by_one(ask, 0, scale.alone)
        began = time.perf_counter()
        together = await _at_once(ask, scale)
        elapsed = time.perf_counter() - began
    return {
        "overhead": percentiles(alone),
        "at_once": {
            "messages_per_second": round(len(together) / elapsed, 1),
            "latency": percentiles(together),
        },
    }


def main() -> None:
    """Print the figures."""
    logs.configure("json", "error", sys.stderr)
    with durable_cluster() as cluster:
        print(json.dumps(asyncio.run(run(cluster, Scale())), indent=2))


if __name__ == "__main__":
    main()
