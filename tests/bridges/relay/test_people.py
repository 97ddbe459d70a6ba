"""People of rooms: what is remembered of them, and how it goes."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from agent.testing.scripted_model import ScriptedCall
from tests.bridges.relay.worlds import RelayWorld, Service, eventually, relay_world
from tests.servers.discord.loopback import LoopbackDiscord

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts
SETTINGS: dict[str, Any] = {"plugins": {"memory": {}, "privacy": {}}}


async def remember(world: RelayWorld, text: str, *, whom: str | None) -> str:
    """Let cyn ask the agent in the room to remember something; return what the tool answered."""
    arguments = {"memory_content": text, "memory_scope": "server_wide"}
    if whom is not None:
        arguments |= {"memory_scope": "target_user", "target_user": whom}
    number = len(world.model.requests)
    world.model.say(ScriptedCall("create_long_term_memory", arguments), f"Answer {number}.")
    await world.cyn.ask(world.room, world.bot, f"remember: {text}")
    await world.in_room(f"Answer {number}.")
    await world.settled()
    return world.model.requests[-1].texts[-1]


async def memories(world: RelayWorld) -> list[dict[str, Any]]:
    async with world.agent.core.store.connection() as conn:
        rows = await conn.fetch(
            "SELECT m.content, a.external_id FROM server_memories m"
            " LEFT JOIN accounts a ON a.account_id = m.subject_account_id ORDER BY m.server_memory_id"
        )
        return [dict(row) for row in rows]


async def test_a_guest_is_remembered_and_forgotten(
    service: Service, discord: LoopbackDiscord, database_url: str
) -> None:
    async with relay_world(service, discord, database_url, SETTINGS) as world:
        told = await remember(world, "{user} likes tea", whom="me")
        [memory] = await memories(world)
        assert (memory["content"], memory["external_id"]) == ("Cyn likes tea", world.cyn.user_id), told
        await world.cyn.say(world.room, "!privacy forget-me")
        direct = await reply_in_private(world)
        code = re.findall(r"forget-me (\w+)", direct)[-1]
        await world.cyn.say(world.room, f"!privacy forget-me {code}")
        [room] = [each for each in await world.cyn.rooms() if each != world.room]
        answers = await world.cyn.answer(room, world.bot, 2)
        assert "Forgotten" in answers[1]["content"]["body"]
        await world.settled()
        assert await memories(world) == []
        async with world.agent.core.store.connection() as conn:
            assert await conn.fetchval("SELECT count(*) FROM relay_messages WHERE account_id IS NOT NULL") == 0
            names = await conn.fetch(
                "SELECT display_name, username FROM accounts WHERE external_id = $1", world.cyn.user_id
            )
            assert [dict(each) for each in names] in ([{"display_name": "", "username": None}], [])
            payloads = await conn.fetch("SELECT payload FROM relay_events WHERE payload IS NOT NULL")
            assert not payloads
        assert not [each for each in world.contents() if "!privacy" in each]


async def reply_in_private(world: RelayWorld) -> str:
    """Return what the agent says to cyn in a direct room, which she joins."""
    invited = await eventually(world.cyn.invited, bool)
    await world.cyn.join(invited[0])
    [said] = await world.cyn.answer(invited[0], world.bot)
    return str(said["content"]["body"])


async def test_a_guest_tells_of_a_member(service: Service, discord: LoopbackDiscord, database_url: str) -> None:
    async with relay_world(service, discord, database_url, SETTINGS) as world:
        discord.say(world.mara, world.general, "hello")
        await world.in_room("hello")
        told = await remember(world, "{user} likes cake", whom="mara")
        async with world.agent.core.store.connection() as conn:
            owned = await conn.fetch(
                "SELECT m.content, a.external_id FROM personal_memories m JOIN accounts a ON a.user_id = m.user_id"
            )
        assert [each["external_id"] for each in owned] == [str(world.mara.id)], told


async def test_an_ambiguous_name_is_nobody(service: Service, discord: LoopbackDiscord, database_url: str) -> None:
    async with relay_world(service, discord, database_url, SETTINGS) as world:
        otto, zoe = world.guild.member("otto", nick="Zoe"), await service.synapse.person("zoe")
        await world.cyn.invite(world.room, zoe.user_id)
        await zoe.join(world.room)
        await zoe.say(world.room, "I am here")
        message = await world.in_channel("I am here")
        assert message.author.name == f"Zoe ({zoe.user_id})"
        discord.say(otto, world.general, "so am I")
        await world.in_room("so am I")
        await world.settled()
        told = await remember(world, "{user} likes cake", whom="Zoe")
        assert "ambiguous" in told.lower() or "several" in told.lower() or "candidates" in told.lower(), told
        assert await memories(world) == []


async def test_what_waits_of_a_guest_goes_with_a_redaction(
    service: Service, discord: LoopbackDiscord, database_url: str
) -> None:
    async with relay_world(service, discord, database_url, SETTINGS) as world:
        world.model.say(
            ScriptedCall(
                "create_long_term_memory", {"memory_content": "the gate is blue", "memory_scope": "server_wide"}
            ),
            "Noted.",
        )
        asked = await world.cyn.ask(world.room, world.bot, "remember: the gate is blue")
        await world.in_room("Noted.")
        await world.settled()
        assert len(await memories(world)) == 1
        await world.cyn.redact(world.room, asked)
        await world.settled()
        await world.settled()
        assert await memories(world) == []


async def test_a_placeholder_in_a_name_stays_a_name(
    service: Service, discord: LoopbackDiscord, database_url: str
) -> None:
    async with relay_world(service, discord, database_url, SETTINGS) as world:
        content = {"membership": "join", "displayname": "{bot}"}
        await world.cyn.state(world.room, "m.room.member", content, world.cyn.user_id)
        await world.settled()
        await remember(world, "{user} likes tea", whom="me")
        [memory] = await memories(world)
        assert "Isthmus" not in memory["content"]
        assert "{bot}" not in memory["content"]


async def test_one_account_wherever_it_speaks(service: Service, discord: LoopbackDiscord, database_url: str) -> None:
    async with relay_world(service, discord, database_url, SETTINGS) as world:
        await world.cyn.say(world.room, "hello there")
        await world.in_channel("hello there")
        await world.settled()
        async with world.agent.core.store.connection() as conn:
            rows = await conn.fetch(
                "SELECT platform, kind, user_id FROM accounts WHERE external_id = $1", world.cyn.user_id
            )
            pairs = await conn.fetch(
                "SELECT webhook_id, message_id, account_id FROM relay_messages WHERE side = 'matrix'"
            )
        assert [dict(row) for row in rows] == [{"platform": "matrix", "kind": "matrix_user", "user_id": None}]
        assert all(row["webhook_id"] and row["account_id"] for row in pairs)
        assert json.dumps([row["message_id"] for row in pairs])
