"""The loopback PluralKit behaves as the facts about the real one say."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest_asyncio

from tests.servers.pluralkit import PluralKitServer
from tests.servers.pluralkit.limiter import Limiter

HEADERS = {"User-Agent": "Test/1.0"}


@pytest_asyncio.fixture
async def pluralkit() -> AsyncIterator[PluralKitServer]:
    async with PluralKitServer() as server:
        yield server


def test_the_limiter_refuses_the_tenth_call_of_a_burst_with_nothing_to_wait() -> None:
    limiter = Limiter()
    answers = [limiter.refuses(100.0) for _ in range(12)]
    assert answers == [None] * 9 + [0, 100, 100]


async def test_calls_at_once_meet_the_limiter(pluralkit: PluralKitServer) -> None:
    async with aiohttp.ClientSession(headers=HEADERS) as session:

        async def ask() -> int:
            async with session.get(f"{pluralkit.origin}/v2/messages/1") as response:
                return response.status

        statuses = await asyncio.gather(*(ask() for _ in range(12)))
    assert statuses.count(429) >= 2


async def test_an_original_leads_to_its_repost(pluralkit: PluralKitServer) -> None:
    wren = pluralkit.system("Lark", "500").member("Wren", display_name="Wren!", name_is_private=True)
    pluralkit.store("200", "100", "500", "10", member=wren)
    async with (
        aiohttp.ClientSession(headers=HEADERS) as session,
        session.get(f"{pluralkit.origin}/v2/messages/100") as response,
    ):
        body = await response.json()
    assert body["id"] == "200"
    assert (body["member"]["name"], body["member"]["display_name"]) == ("Wren!", None)


async def test_errors(pluralkit: PluralKitServer) -> None:
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{pluralkit.origin}/v2/messages/1", headers=HEADERS) as response:
            assert (response.status, (await response.json())["code"]) == (404, 20006)
        async with session.get(f"{pluralkit.origin}/v2/nothing", headers=HEADERS) as response:
            assert (response.status, await response.read()) == (404, b"")
        async with session.get(f"{pluralkit.origin}/v2/messages/1", headers={"User-Agent": ""}) as response:
            assert (response.status, await response.read()) == (400, b"")
        async with session.get(f"{pluralkit.origin}/v1/messages/1", headers=HEADERS) as response:
            assert response.status == 410
