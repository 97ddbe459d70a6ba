"""Resident memory of `isthmus run`: `python -m benchmarks.bench_resident` prints JSON, in megabytes.

One bridge and one provider: the fake bridge over a socket, and the openai client against a loopback server. Measured
when it has started, after its first answer, and after ten thousand; without embeddings, and (fewer messages, each of
which saves a memory) with local ones. `bare` is Python with the openai client and the driver imported.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agent.testing.database import DatabaseCluster
from agent.testing.fake_platform import FakePlatform
from agent.testing.fake_remote import serve
from agent.testing.process import AgentProcess
from benchmarks.common import ROOT, durable_cluster, resident_mb
from tests.servers.openai import OpenAIServer
from tests.servers.openai.rules import answer_by_rules

GOALS: Final = {"without_embeddings": 200, "with_local_embeddings": 300}
CONVERSATIONS: Final = 32
PATIENCE: Final = 120.0
BARE: Final = (
    "import asyncio, asyncpg, openai, pydantic_ai.models.openai as _, psutil; print(psutil.Process().memory_info().rss)"
)


@dataclass(frozen=True, slots=True)
class Scale:
    """How many messages are answered."""

    plain: int = 10_000
    saving: int = 1_000


async def run(cluster: DatabaseCluster, scale: Scale) -> dict[str, Any]:
    """Measure both configurations and the floor."""
    figures: dict[str, Any] = {"goals": GOALS, "unit": "MB"}
    with cluster.fresh() as url:
        figures["without_embeddings"] = await _measure(url, "off", scale.plain, "what do you know about me")
    with cluster.fresh() as url:
        figures["with_local_embeddings"] = await _measure(url, "local", scale.saving, "remember that the word is w{}")
    command = [sys.executable, "-c", BARE]
    done = await asyncio.to_thread(subprocess.run, command, stdout=subprocess.PIPE, check=True)
    figures["bare"] = round(int(done.stdout) / 1024 / 1024, 1)
    return figures


async def _measure(url: str, embeddings: str, messages: int, text: str) -> dict[str, Any]:
    platform = FakePlatform()
    with tempfile.TemporaryDirectory() as directory:
        async with OpenAIServer(otherwise=answer_by_rules) as server:
            model = {"model": "openai:loopback", "base_url": server.url, "api_key": "none", "embeddings": embeddings}
            memory = {"max_server_memories": 10_000, "saves_per_hour": 100_000}
            tables = {"agent": model, "database": {"url": url}, "plugins": {"memory": memory}}
            agent = AgentProcess(platform, Path(directory), tables, working_directory=ROOT)
            async with serve(platform, agent.socket), agent:
                await agent.start()
                figures = {"messages": messages, "idle": resident_mb(agent.pid)}
                await platform.answer(await platform.say("person0", text.format("x")), timeout=PATIENCE)
                figures["first_answer"] = resident_mb(agent.pid)
                await _talk(platform, server, messages, text)
                figures["at_the_end"] = resident_mb(agent.pid)
                await agent.stop()
    return figures


async def _talk(platform: FakePlatform, server: OpenAIServer, messages: int, text: str) -> None:
    numbers = iter(range(messages))

    async def converse(conversation: int) -> None:
        place = {"channel": f"room{conversation}", "server": f"server{conversation % 4}"}
        for number in numbers:
            said = await platform.say(
                f"person{conversation}", text.format(number), channel=place["channel"], server=place["server"]
            )
            await platform.answer(said, timeout=PATIENCE)
            server.requests.clear()

    await asyncio.gather(*(converse(number) for number in range(CONVERSATIONS)))


def main() -> None:
    """Print the figures."""
    with durable_cluster() as cluster:
        print(json.dumps(asyncio.run(run(cluster, Scale())), indent=2))


if __name__ == "__main__":
    main()
