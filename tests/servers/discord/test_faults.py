import asyncio
import time
from random import Random
from typing import Any

import aiohttp
import nextcord
import pytest

from tests.servers.discord.clients import running
from tests.servers.discord.faults import Fault, Limit, Scope
from tests.servers.discord.loopback import LoopbackDiscord

SEND = "/channels/{channel_id}/messages"
EXECUTE = "/webhooks/{webhook_id}/{webhook_token}"


@pytest.mark.parametrize("scope", list(Scope))
async def test_the_client_waits_out_a_429_of_each_scope(discord: LoopbackDiscord, scope: Scope) -> None:
    general = discord.guild().channel("general")
    async with running(discord) as client:
        place: Any = client.get_channel(general.id)
        fault = discord.faults.rate_limit(scope, 0.3, method="POST", path=SEND)
        began = time.monotonic()
        await place.send("late")
        assert 0.3 <= time.monotonic() - began < 3
        assert fault.met == 1
        assert [one.status for one in discord.calls("POST", SEND)] == [429, 200]
        assert [one.content for one in discord.messages(general)] == ["late"]


async def test_a_webhook_waits_out_a_429(discord: LoopbackDiscord) -> None:
    general = discord.guild().channel("general")
    async with running(discord) as client:
        place: Any = client.get_channel(general.id)
        webhook = await place.create_webhook(name="Personas")
        discord.faults.rate_limit(retry_after=0.1, path=EXECUTE)
        await webhook.send("late", wait=True)
        assert [one.status for one in discord.calls("POST", EXECUTE)] == [429, 200]


async def test_a_429_from_in_front_of_discord_is_an_error(discord: LoopbackDiscord) -> None:
    general = discord.guild().channel("general")
    async with running(discord) as client:
        place: Any = client.get_channel(general.id)
        discord.faults.add(Fault(status=429, retry_after=5, cloudflare=True, path=SEND))
        with pytest.raises(nextcord.HTTPException):
            await place.send("no")


async def test_the_client_tries_again_after_a_5xx(discord: LoopbackDiscord) -> None:
    general = discord.guild().channel("general")
    async with running(discord) as client:
        place: Any = client.get_channel(general.id)
        discord.faults.fail(502, method="POST", path=SEND)
        await place.send("at last")
        assert [one.status for one in discord.calls("POST", SEND)] == [502, 200]
        assert len(discord.messages(general)) == 1


async def test_an_answer_is_lost_after_the_effect(discord: LoopbackDiscord) -> None:
    general = discord.guild().channel("general")
    async with running(discord) as client:
        place: Any = client.get_channel(general.id)
        discord.faults.lose(method="POST", path=SEND)
        with pytest.raises(aiohttp.ClientError):
            await place.send("said")
        assert [one.content for one in discord.messages(general)] == ["said"]
        assert discord.calls("POST", SEND)[0].status == 0


async def test_permissions_are_refused(discord: LoopbackDiscord) -> None:
    general = discord.guild().channel("general")
    async with running(discord) as client:
        place: Any = client.get_channel(general.id)
        for code in (50013, 50001):
            discord.faults.refuse(code, path=SEND)
            with pytest.raises(nextcord.Forbidden) as refused:
                await place.send("no")
            assert refused.value.code == code
        await place.send("yes")


async def test_an_answer_is_slow(discord: LoopbackDiscord) -> None:
    general = discord.guild().channel("general")
    async with running(discord) as client:
        place: Any = client.get_channel(general.id)
        discord.faults.slow(0.2, path=SEND)
        began = time.monotonic()
        await place.send("slow")
        assert time.monotonic() - began >= 0.2


async def test_a_bucket_lets_only_so_many_in(discord: LoopbackDiscord) -> None:
    general = discord.guild().channel("general")
    discord.faults.limit("POST", SEND, 2, 0.4)
    async with running(discord) as client:
        place: Any = client.get_channel(general.id)
        began = time.monotonic()
        await asyncio.gather(*(place.send(str(number)) for number in range(4)))
        assert time.monotonic() - began >= 0.4
        assert {one.content for one in discord.messages(general)} == {"0", "1", "2", "3"}


def test_a_bucket_is_whole_again_after_its_time() -> None:
    limit = Limit(2, 1.0)
    assert [limit.take("c", at)[2] for at in (0.0, 0.5, 0.9, 1.0, 1.2, 1.5)] == [True, True, False, True, False, True]
    assert limit.take("another", 1.5) == (1, 1.0, True)


async def test_chance_strikes_some_of_many(discord: LoopbackDiscord) -> None:
    discord.faults.sometimes(0.5, Random(7), Fault(status=500), Fault(status=429))
    async with aiohttp.ClientSession() as session:
        found = [(await session.get(f"{discord.api_base}/gateway")).status for _ in range(100)]
    assert 30 <= 100 - found.count(200) <= 70
    assert found.count(500)
    assert found.count(429)
