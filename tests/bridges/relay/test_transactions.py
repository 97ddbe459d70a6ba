"""Transactions that are retried, doubled, out of order, or hold poison: nothing twice, nothing lost, and on it goes."""

from __future__ import annotations

import itertools
import random
from typing import Any

import aiohttp
import pytest

from tests.bridges.relay.worlds import RelayWorld, Service, relay_world
from tests.servers.discord.loopback import LoopbackDiscord

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts
_numbers = itertools.count(1)
type Json = dict[str, Any]


async def bring(world: RelayWorld, *events: Any) -> int:
    """Bring a transaction as the homeserver does."""
    headers = {"Authorization": f"Bearer {world.service.tokens.from_homeserver}"}
    address = f"http://127.0.0.1:{world.relay.port}/_matrix/app/v1/transactions/test{next(_numbers)}"
    async with aiohttp.ClientSession(headers=headers) as http, http.put(address, json={"events": events}) as answer:
        return answer.status


def message(world: RelayWorld, number: object, text: str, **more: Any) -> Json:
    return {
        "type": "m.room.message",
        "event_id": f"$made-{world.room[1:8]}-{number}",
        "room_id": world.room,
        "sender": world.cyn.user_id,
        "origin_server_ts": 1_700_000_000_000,
        "content": {"msgtype": "m.text", "body": text, "m.mentions": {}},
        **more,
    }


async def test_each_event_is_carried_once_and_in_order(
    service: Service, discord: LoopbackDiscord, database_url: str
) -> None:
    async with relay_world(service, discord, database_url) as world:
        events = [message(world, number, f"line {number}") for number in range(12)]
        chance = random.Random(7)
        for start in range(0, 12, 3):
            for _ in range(chance.randint(1, 3)):
                assert await bring(world, *events[start : start + 3]) == 200
            assert await bring(world, *events[max(start - 4, 0) : start + 3]) == 200
        await world.in_channel("line 11")
        await world.settled()
        lines = [each for each in world.contents() if each.startswith("line")]
        assert lines == [f"line {number}" for number in range(12)]


async def test_poison_is_set_aside_and_the_queue_goes_on(
    service: Service, discord: LoopbackDiscord, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with relay_world(service, discord, database_url) as world:
        parts = world.relay._started
        real = parts.to_discord.carry

        async def carry(waiting: Any, link: Any, is_doubtful: bool) -> None:
            if "poison" in waiting.payload:
                raise RuntimeError("nobody has foreseen this")
            await real(waiting, link, is_doubtful)

        monkeypatch.setattr(parts.to_discord, "carry", carry)
        nonsense = [
            None,
            17,
            {"type": "m.room.message"},
            {**message(world, "a", "x"), "content": "no object"},
            {**message(world, "b", "x"), "event_id": 5},
            {**message(world, "c", "x"), "sender": None},
            {**message(world, "d", "nul \x00 inside")},
            {**message(world, "e", "x"), "content": {"msgtype": ["m.text"], "body": {"deep": [1]}}},
            {
                **message(world, "f", "x"),
                "content": {"m.relates_to": "text", "body": "odd relation", "msgtype": "m.text"},
            },
            {**message(world, "g", "x"), "origin_server_ts": "yesterday"},
        ]
        assert (
            await bring(
                world, message(world, 1, "before"), message(world, 2, "poison"), *nonsense, message(world, 3, "after")
            )
            == 200
        )
        await world.in_channel("after")
        await world.settled()
        contents = world.contents()
        assert [each for each in contents if each in {"before", "after"}] == ["before", "after"]
        assert "poison" not in contents
        assert "nul  inside" in contents
        assert "odd relation" in contents
        async with world.agent.core.store.connection() as conn:
            rows = await conn.fetch("SELECT event_id, state, payload FROM relay_events WHERE state = 'set_aside'")
        assert [row["event_id"] for row in rows] == [message(world, 2, "")["event_id"]]


async def test_an_edit_and_a_redaction_that_come_first_count(
    service: Service, discord: LoopbackDiscord, database_url: str
) -> None:
    async with relay_world(service, discord, database_url) as world:
        first, second = message(world, 1, "helo"), message(world, 2, "regretted")
        edit = message(world, 3, "* hello")
        edit["content"] |= {
            "m.new_content": {"msgtype": "m.text", "body": "hello"},
            "m.relates_to": {"rel_type": "m.replace", "event_id": first["event_id"]},
        }
        forged = {**message(world, 4, "* forged"), "sender": "@evil:home.test"}
        forged["content"] = {**edit["content"], "m.new_content": {"msgtype": "m.text", "body": "forged"}}
        forged["origin_server_ts"] = 1_800_000_000_000
        redaction = {**message(world, 5, ""), "type": "m.room.redaction", "content": {"redacts": second["event_id"]}}
        assert await bring(world, edit, forged, redaction) == 200
        assert await bring(world, second, first, message(world, 6, "last")) == 200
        await world.in_channel("last")
        await world.settled()
        said = [each for each in world.contents() if each]
        assert said[-2:] == ["hello", "last"]
        assert not {"helo", "regretted", "forged"} & set(said)


async def test_an_answer_of_discord_that_is_lost_doubles_nothing(
    service: Service, discord: LoopbackDiscord, database_url: str
) -> None:
    async with relay_world(service, discord, database_url) as world:
        await world.cyn.say(world.room, "first")
        await world.in_channel("first")
        for number in range(3):
            discord.faults.lose(method="POST", path="/webhooks/{webhook_id}/{webhook_token}")
            await world.cyn.say(world.room, f"lost {number}")
            await world.cyn.say(world.room, "the same")
        await discord.until(lambda: world.contents().count("the same") == 3, 20, "three of the same")
        await world.settled()
        assert [world.contents().count(f"lost {number}") for number in range(3)] == [1, 1, 1]
        assert world.contents().count("the same") == 3


async def test_an_outage_of_discord_delays_and_loses_nothing(
    service: Service, discord: LoopbackDiscord, database_url: str
) -> None:
    async with relay_world(service, discord, database_url) as world:
        await world.cyn.say(world.room, "first")
        await world.in_channel("first")
        with_fault = discord.faults.fail
        for _ in range(2):
            with_fault(503, method="POST", path="/webhooks/{webhook_id}/{webhook_token}")
        await world.cyn.say(world.room, "delayed")
        await world.cyn.say(world.room, "behind it")
        await world.in_channel("behind it")
        await world.settled()
        assert [each for each in world.contents() if each in {"delayed", "behind it"}] == ["delayed", "behind it"]
