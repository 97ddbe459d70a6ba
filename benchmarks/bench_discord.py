"""What the agent makes of Discord: `python -m benchmarks.bench_discord` prints JSON.

People ask in many channels of a loopback Discord in this process, through nextcord's real client; the model answers at
once. `bare` is the floor: a nextcord client that answers what mentions it and keeps nothing. Figures of memory and
stalls are of client and Discord together; the difference is the agent's.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import nextcord

from agent import logs
from agent.testing.database import DatabaseCluster
from agent.testing.loop_watch import LoopWatch
from benchmarks.common import durable_cluster, percentiles, resident_mb
from tests.e2e.discord.stress import Crowd, Scale, answering, load
from tests.e2e.stress import echo_model
from tests.servers.discord.clients import redirected
from tests.servers.discord.loopback import LoopbackDiscord

SCALE: Final = Scale(guilds=5, channels=4, people=1, seconds=10)


class Echo(nextcord.AutoShardedClient):
    """Answers what mentions it."""

    async def on_message(self, message: nextcord.Message) -> None:
        """Say what was said."""
        if self.user is not None and self.user in message.mentions and message.author != self.user:
            await message.reply(f"You said: {message.content}")


@asynccontextmanager
async def echoing(discord: LoopbackDiscord) -> AsyncIterator[None]:
    """Run the bare client."""
    intents = nextcord.Intents.default()
    intents.members = intents.message_content = True
    client = Echo(intents=intents, guild_ready_timeout=0.05, max_messages=None)
    async with redirected(discord):
        running = asyncio.create_task(client.start(discord.token))
        await discord.connected()
        await client.wait_until_ready()
        try:
            yield
        finally:
            await client.close()
            await asyncio.gather(running, return_exceptions=True)


async def bare(scale: Scale) -> dict[str, Any]:
    """Return the figures of the bare client."""
    async with LoopbackDiscord(check_requests=False) as discord:
        crowd, watch, idle = Crowd(discord, scale), LoopWatch(), resident_mb()
        async with echoing(discord):
            watch.start()
            try:
                elapsed = await crowd.talk()
            finally:
                stalls = watch.stop()
    return {
        "messages": len(crowd.said),
        "messages_per_second": round(len(crowd.said) / elapsed, 1),
        "latency": percentiles(crowd.waited),
        "resident_mb": {"idle": idle, "at_the_end": resident_mb()},
        "longest_stall_ms": round(watch.longest * 1000, 1),
        "stalls_over_50_ms": len(stalls),
    }


async def agent(scale: Scale, database_url: str) -> dict[str, Any]:
    """Return the figures of the whole agent; nothing may be lost, doubled or out of order."""
    async with LoopbackDiscord(check_requests=False) as discord:
        crowd = Crowd(discord, scale)
        async with answering(discord, database_url, echo_model()) as running:
            return await load(crowd, running)


async def run(cluster: DatabaseCluster, scale: Scale) -> dict[str, Any]:
    """Return the figures of both, one after the other in this process."""
    floor = await bare(scale)
    with cluster.fresh() as database_url:
        return {"bare": floor, "agent": await agent(scale, database_url)}


def main() -> None:
    """Print the figures."""
    logs.configure("json", "error", sys.stderr)
    logging.getLogger("nextcord").setLevel(logging.ERROR)
    with durable_cluster() as cluster:
        print(json.dumps(asyncio.run(run(cluster, SCALE)), indent=2))


if __name__ == "__main__":
    main()
