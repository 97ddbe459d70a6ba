"""Proxied messages in many channels: `python -m benchmarks.bench_message_proxies [SECONDS]` prints JSON.

Members speak through a loopback PluralKit with the real one's limits, whose row is committed a moment after the repost;
the original is deleted a second later. Delays are from the original to the committed answer; the model answers at once.
What waiting in vain costs is measured against people who use no service, in the same channels.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from statistics import median
from typing import Any, Final

from agent.testing.database import DatabaseCluster
from agent.testing.scripted_model import ScriptedModel
from benchmarks.common import durable_cluster, percentiles
from tests.plugins.message_proxy.world import ProxyWorld, proxy_world
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.records import Channel, User
from tests.servers.pluralkit import PluralKitServer
from tests.servers.pluralkit.records import Member

MESSAGES: Final = 500
CHANNELS: Final = 20
SECONDS: Final = 60.0
COMMITTED_AFTER: Final = (0.02, 0.3)
"""Seconds after the repost, at random between these."""
DELETED_AFTER: Final = 1.0
WAIT: Final = 2.0
"""Seconds that a message waits for its repost."""


async def proxied(world: ProxyWorld, who: User, channel: Channel, member: Member, number: int) -> tuple[str, datetime]:
    """Speak as the service makes it, in its own order and time; return the repost and when the original was said."""
    said = datetime.now(UTC)
    original = world.discord.say(who, channel, f"message {number} {world.discord.bot.mention}")
    await asyncio.sleep(random.uniform(0.05, 0.3))  # noqa: S311 - no secret
    reposted = world.bot.repost(original, channel, member)
    await asyncio.sleep(random.uniform(*COMMITTED_AFTER))  # noqa: S311 - no secret
    world.bot.commit(reposted, original, member)
    await asyncio.sleep(DELETED_AFTER)
    world.discord.delete(original)
    return str(reposted.id), said


async def measured(cluster: DatabaseCluster, messages: int, seconds: float) -> dict[str, Any]:
    """Return the figures of a run."""
    url = cluster.url(await asyncio.to_thread(cluster.create))
    async with PluralKitServer() as pluralkit, LoopbackDiscord(check_requests=False) as discord:
        guild = discord.guild("Garden")
        people = [guild.member(f"host{number}") for number in range(CHANNELS)]
        channels = [guild.channel(f"channel{number}") for number in range(CHANNELS)]
        members = [pluralkit.system(f"S{each.id}", str(each.id)).member("Wren") for each in people]
        model = ScriptedModel(default="Well.")
        async with proxy_world(discord, pluralkit, url, model=model, wait=WAIT, lookup_seconds=5.0) as world:
            await made_known(world, people, channels, members)
            pluralkit.requests.clear()
            tasks = []
            for number in range(messages):
                place = number % CHANNELS
                work = proxied(world, people[place], channels[place], members[place], number)
                tasks.append(asyncio.create_task(work))
                await asyncio.sleep(seconds / messages)
            said = dict(await asyncio.gather(*tasks))
            await asyncio.sleep(1)
            await world.agent.idle()
            delays = await delays_of(world, said)
        asked = [at for at, _, _ in pluralkit.requests]
        return {
            "messages": messages,
            "seconds": seconds,
            "answered": len(delays),
            "requests": len(asked),
            "requests_per_message": round(len(asked) / messages, 2),
            "refused_by_the_service": pluralkit.refused,
            "most_requests_in_a_second": max(sum(at <= other < at + 1 for other in asked) for at in asked),
            "most_at_once_about_one": max(pluralkit.most_at_once.values()),
            "delay_seconds": percentiles(delays),
        }


async def spoken(world: ProxyWorld, people: Sequence[User], channels: Sequence[Channel]) -> dict[str, datetime]:
    """Have everybody ask something that is not reposted, one after the other; return when, by message."""
    said = {}
    for who, channel in zip(people, channels, strict=True):
        moment = datetime.now(UTC)
        said[str(world.discord.say(who, channel, f"just me {world.discord.bot.mention}").id)] = moment
        await asyncio.sleep(random.uniform(0.05, 0.1))  # noqa: S311 - no secret
    return said


async def delays_of(world: ProxyWorld, said: Mapping[str, datetime]) -> list[float]:
    """Return the seconds from each message to its committed answer, of those that are answered."""
    rows = await world.rows("SELECT event_id, created_at FROM outbox")
    answered = [row for row in rows if row["event_id"] in said]
    return [(row["created_at"] - said[row["event_id"]]).total_seconds() for row in answered]


async def unreposted(cluster: DatabaseCluster, rounds: int, wait: float, channels: int = CHANNELS) -> dict[str, Any]:
    """Return what somebody who uses a service and is not reposted waits beyond the set wait.

    In each round everybody asks once, in a channel where the service was seen; then somebody without a service, there.
    `added` is the delay less the wait and less the median of those without a service.
    """
    url = cluster.url(await asyncio.to_thread(cluster.create))
    async with PluralKitServer() as pluralkit, LoopbackDiscord(check_requests=False) as discord:
        guild = discord.guild("Garden")
        people = [guild.member(f"host{number}") for number in range(channels)]
        others = [guild.member(f"other{number}") for number in range(channels)]
        places = [guild.channel(f"channel{number}") for number in range(channels)]
        members = [pluralkit.system(f"S{each.id}", str(each.id)).member("Wren") for each in people]
        model = ScriptedModel(default="Well.")
        async with proxy_world(discord, pluralkit, url, model=model, wait=wait, lookup_seconds=5.0) as world:
            await made_known(world, people, places, members)
            pluralkit.requests.clear()
            with_one: list[float] = []
            without: list[float] = []
            for _ in range(rounds):
                for who, found in ((people, with_one), (others, without)):
                    said = await spoken(world, who, places)
                    await asyncio.sleep(wait + 1)
                    await world.agent.idle()
                    found.extend(await delays_of(world, said))
        typical = median(without)
        return {
            "messages": rounds * channels,
            "answered": len(with_one),
            "wait_seconds": wait,
            "requests": len(pluralkit.requests),
            "delay_less_wait": percentiles([each - wait for each in with_one]),
            "delay_without_a_service": percentiles(without),
            "added": percentiles([each - wait - typical for each in with_one]),
        }


async def made_known(world: ProxyWorld, people: list[User], channels: list[Channel], members: list[Member]) -> None:
    """Have everybody use the service, and the service seen in each channel."""
    for who, channel, member in zip(people, channels, members, strict=True):
        world.discord.say(who, channel, "hello")
        await world.use(who)
        await world.ended(*world.bot.proxy(who, channel, member, "to be seen"))


def main() -> None:
    """Print the figures."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    with durable_cluster() as cluster:
        figures = {
            "not_reposted": asyncio.run(unreposted(cluster, 3, WAIT)),
            "calm": asyncio.run(measured(cluster, 40, 20.0)),
            "busy": asyncio.run(measured(cluster, max(round(MESSAGES * seconds / SECONDS), 1), seconds)),
        }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
