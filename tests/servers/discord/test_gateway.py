import asyncio
import json
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import aiohttp
import nextcord
import pytest

from tests.servers.discord.clients import Client, Sharded, running, usual
from tests.servers.discord.core import TOKEN
from tests.servers.discord.events import Intent
from tests.servers.discord.loopback import LoopbackDiscord


def texts(client: Client) -> list[str]:
    return [one.content for one in client.those("message")]


@pytest.mark.parametrize("code", [None, 4000, 4009])
async def test_a_dropped_client_resumes_and_hears_what_it_missed(discord: LoopbackDiscord, code: int | None) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    async with running(discord) as client:
        discord.say(mara, general, "before")
        await client.hears("message")
        discord.gateway.drop(code)
        discord.say(mara, general, "meanwhile")
        await client.hears("resumed")
        discord.say(mara, general, "after")
        await client.hears("message", 3)
        assert texts(client) == ["before", "meanwhile", "after"]
        assert [one["op"] for one in discord.gateway.received if one["op"] in {2, 6}] == [2, 6]
        assert len(discord.gateway.sessions) == 1


async def test_op_7_lets_the_client_reconnect_and_resume(discord: LoopbackDiscord) -> None:
    discord.guild()
    async with running(discord) as client:
        discord.gateway.reconnect()
        await client.hears("resumed")


async def test_op_9_true_lets_the_client_resume(discord: LoopbackDiscord) -> None:
    discord.guild()
    async with running(discord) as client:
        discord.gateway.invalidate(resumable=True)
        await client.hears("resumed")


async def test_op_9_false_begins_a_new_session_and_what_was_missed_is_lost(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    async with running(discord) as client:
        discord.gateway.invalidate(resumable=False)
        discord.say(mara, general, "lost")
        await client.hears("ready", 2, timeout=10)
        discord.say(mara, general, "heard")
        await client.hears("message")
        assert texts(client) == ["heard"]
        assert client.those("resumed") == []


async def test_a_session_that_is_forgotten_cannot_be_resumed(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    async with running(discord) as client:
        discord.gateway.forgets = True
        discord.gateway.drop()
        discord.say(mara, general, "lost")
        await client.hears("ready", 2, timeout=10)
        assert [one["op"] for one in discord.gateway.received if one["op"] in {2, 6}] == [2, 6, 2]
        assert texts(client) == []


async def test_events_are_told_again_after_a_resume(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    async with running(discord) as client:
        discord.say(mara, general, "one")
        discord.say(mara, general, "two")
        await client.hears("message", 2)
        discord.gateway.replays = 1
        discord.gateway.drop()
        await client.hears("resumed")
        assert texts(client) == ["one", "two", "two"]


async def test_events_are_reordered_and_doubled(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    async with running(discord) as client:
        with discord.hold("MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE") as held:
            said = discord.say(mara, general, "a")
            discord.edit(said, "b")
            discord.delete(said)
            discord.type(mara, general)
            await client.hears("typing")
            assert [one.name for one in held.events] == ["MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE"]
            held.release([2, 0, 0, 1])
        await client.hears("raw_message_edit")
        names = [name for name, _ in client.heard if name in {"message", "raw_message_edit", "raw_message_delete"}]
        assert names == ["raw_message_delete", "message", "message", "raw_message_edit"]
        with discord.hold():
            discord.say(mara, general, "kept back")
        await client.hears("message", 3)


@pytest.mark.parametrize("seed", range(3))
async def test_whatever_drops_each_message_is_heard_once_and_in_order(discord: LoopbackDiscord, seed: int) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    chance = Random(seed)
    gateway = discord.gateway
    ways: list[Callable[[], None]] = [gateway.drop, gateway.reconnect, partial(gateway.drop, 4000)]
    async with running(discord) as client:
        for number in range(60):
            discord.say(mara, general, str(number))
            if chance.random() < 0.15:
                chance.choice(ways)()
            await asyncio.sleep(chance.choice([0, 0.001, 0.01]))
        await client.hears("message", 60)
        assert texts(client) == [str(number) for number in range(60)]
        assert [one["op"] for one in discord.gateway.received].count(2) == 1


async def test_shards_hear_of_their_own_servers(discord: LoopbackDiscord) -> None:
    discord.core.shards = 2
    guilds = [discord.guild(f"Server {number}") for number in range(4)]
    mara = discord.user("mara")
    async with running(discord, Sharded(intents=usual())) as client:
        assert len(discord.gateway.sessions) == 2
        assert {one.id for one in client.guilds} == {one.id for one in guilds}
        assert {guild.shard_id for guild in client.guilds} == {0, 1}
        for guild in guilds:
            guild.member(mara)
            discord.say(mara, guild.channel("general"), guild.name)
        discord.say(mara, discord.dm(mara), "direct")
        await client.hears("message", 5)
        assert sorted(texts(client)) == ["Server 0", "Server 1", "Server 2", "Server 3", "direct"]


async def test_members_come_in_chunks(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    for number in range(1500):
        guild.member(f"person{number}")
    async with running(discord) as client:
        (seen,) = client.guilds
        assert len(seen.members) == 1502
        found = await seen.query_members("PERSON149", limit=5, cache=False)
        assert len(found) == 5
        assert all(one.name.startswith("person149") for one in found)
        some = await seen.query_members(user_ids=[found[0].id, 42], cache=False)
        assert [one.id for one in some] == [found[0].id]


async def test_without_the_intent_text_is_hidden_but_where_the_bot_is_addressed(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    discord.deny_intents(Intent.MESSAGE_CONTENT, Intent.GUILD_MEMBERS)
    async with running(discord, Client(intents=nextcord.Intents.default())) as client:
        hidden = discord.say(mara, general, "secret")
        discord.say(mara, general, f"{discord.bot.mention} seen")
        discord.say(mara, discord.dm(mara), "direct")
        place: Any = client.get_channel(general.id)
        await place.send("my own")
        await client.hears("message", 4)
        assert texts(client) == ["", f"{discord.bot.mention} seen", "direct", "my own"]
        assert (await place.fetch_message(hidden.id)).content == ""


async def test_without_an_intent_its_events_do_not_come(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    async with running(discord, Client(intents=nextcord.Intents(guilds=True, guild_messages=True))) as client:
        guild.nick(mara, "M")
        guild.nick(discord.bot, "The agent")
        discord.say(mara, discord.dm(mara), "direct")
        said = discord.say(mara, general, "hi")
        discord.react(mara, said, "👍")
        discord.delete(said)
        await client.hears("raw_message_delete")
        assert len(client.those("message")) == 1
        assert [one.nick for one in client.those("member_update")] == [None]
        assert client.guilds[0].me.nick == "The agent"
        assert client.those("raw_reaction_add") == client.those("raw_member_update") == []


async def test_intents_that_do_not_exist_close_with_4013(discord: LoopbackDiscord) -> None:
    intents = nextcord.Intents.none()
    intents.value = 1 << 30
    with pytest.raises(nextcord.ConnectionClosed):
        async with running(discord, Client(intents=intents)):
            pass
    assert discord.gateway.closes == [4013]


async def test_heartbeats_are_answered_unless_the_gateway_is_deaf(discord: LoopbackDiscord) -> None:
    async with aiohttp.ClientSession() as session, session.ws_connect(discord.gateway.url()) as socket:
        assert (await socket.receive_json())["op"] == 10
        await socket.send_json({"op": 1, "d": None})
        assert (await socket.receive_json())["op"] == 11
        discord.gateway.deaf = True
        await socket.send_json({"op": 1, "d": None})
        with pytest.raises(TimeoutError):
            await socket.receive(timeout=0.1)


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ({"op": 3, "d": {}}, 4003),
        ({"op": 99, "d": {}}, 4001),
        ({"op": 2, "d": {"token": "wrong", "intents": 0}}, 4004),
        ({"op": 2, "d": {"token": TOKEN, "intents": 0, "shard": [2, 2]}}, 4010),
        ("no JSON", 4002),
        ("x" * 5000, 4002),
    ],
)
async def test_wrong_frames_close_the_connection(discord: LoopbackDiscord, frame: object, code: int) -> None:
    async with aiohttp.ClientSession() as session, session.ws_connect(discord.gateway.url()) as socket:
        await socket.receive_json()
        await socket.send_str(frame if isinstance(frame, str) else json.dumps(frame))
        assert (await socket.receive()).type is aiohttp.WSMsgType.CLOSE
        assert socket.close_code == code


async def test_the_presence_is_kept(discord: LoopbackDiscord) -> None:
    async with running(discord) as client:
        await client.change_presence(activity=nextcord.CustomActivity("listening"))
        (session,) = discord.gateway.sessions.values()
        shown = await discord.until(lambda: session.presence)
        assert shown is not None
        assert shown["activities"][0]["state"] == "listening"


async def test_a_server_goes_away_and_comes_back(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    async with running(discord) as client:
        discord.outage(guild)
        await client.hears("guild_unavailable")
        discord.recover(guild)
        await client.hears("guild_available", 2)
        guild.leave(discord.bot)
        await client.hears("guild_remove")
        assert client.guilds == []
        other = discord.guild("Another")
        assert (await client.hears("guild_join")).id == other.id
