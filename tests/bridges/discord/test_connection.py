"""Login and gateway, through the real client: what goes wrong is told in a line, and costs no more than it must."""

import logging
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from structlog.testing import capture_logs

from agent.bridge import BridgeStartFailed
from agent.events import MessageCreated
from agent.settings.secrets import Secret
from agent.testing.recording_host import RecordingHost
from bridges.discord import DiscordBridge
from bridges.discord.client import guarded
from tests.bridges.discord.worlds import settings_of
from tests.servers.discord.events import Intent
from tests.servers.discord.loopback import LoopbackDiscord


@asynccontextmanager
async def bridge_in(discord: LoopbackDiscord, **options: Any) -> AsyncIterator[RecordingHost]:
    host, bridge = RecordingHost(), DiscordBridge(settings_of(discord, **options))
    await bridge.start(host)
    try:
        yield host
    finally:
        await bridge.stop()


async def hears(host: RecordingHost, count: int = 1) -> list[str]:
    return [(await host.next(MessageCreated)).text for _ in range(count)]


async def refused(bridge: DiscordBridge) -> str:
    with pytest.raises(BridgeStartFailed) as caught:
        await bridge.start(RecordingHost())
    await bridge.stop()
    return str(caught.value)


async def test_what_keeps_it_from_starting_is_told_with_the_way_out(
    discord: LoopbackDiscord, capsys: pytest.CaptureFixture[str]
) -> None:
    discord.guild("Garden")
    settings = settings_of(discord)
    wrong = settings.model_copy(update={"token": Secret.parse("wrong")})
    assert re.search(r"refuses the token .*: make a new one .*run isthmus setup", await refused(DiscordBridge(wrong)))
    nowhere = settings.model_copy(update={"api_base": "http://127.0.0.1:1/api/v10"})
    assert "http://127.0.0.1:1/api/v10 cannot be reached" in await refused(DiscordBridge(nowhere))
    discord.deny_intents(Intent.MESSAGE_CONTENT)
    text = await refused(DiscordBridge(settings))
    assert "switch on, under Bot, Message Content Intent (or message_content = false) in [bridges.discord]" in text
    assert "Members" not in text  # that one is on
    # What nextcord itself says of all that would only startle: the bridge has said it.
    written = capsys.readouterr().err
    assert "PyNaCl" not in written
    assert "Traceback" not in written
    assert "rejected authorization" not in written


async def test_who_is_served_stands_in_one_line(discord: LoopbackDiscord) -> None:
    discord.guild("Garden")
    discord.guild("Harbour")
    with capture_logs() as lines:
        async with bridge_in(discord):
            pass
    [line] = [each for each in lines if each["event"] == "discord_connected"]
    assert (line["servers"], line["shards"]) == (2, 1)


@pytest.mark.parametrize("code", [4004, 4014])
async def test_a_connection_that_discord_has_ended_is_tried_again(
    discord: LoopbackDiscord, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    monkeypatch.setattr("bridges.discord.bridge.AGAIN", 0.1)
    guild = discord.guild("Garden")
    mara, general = guild.member("mara"), guild.channel("general")
    with capture_logs() as lines:
        async with bridge_in(discord) as host:
            allowed, token = discord.gateway.allowed, discord.gateway.token
            if code == 4014:
                discord.deny_intents(Intent.MESSAGE_CONTENT)
            else:
                discord.gateway.token = "another"
            discord.gateway.drop(code)
            await discord.until(lambda: any(each["event"] == "discord_connection_ended" for each in lines))
            before = set(discord.gateway.sessions)
            discord.gateway.allowed, discord.gateway.token = allowed, token  # the operator has mended it
            await discord.until(lambda: set(discord.gateway.sessions) - before, timeout=15, what="a new session")
            await discord.connected()
            discord.say(mara, general, "hello again")
            assert await hears(host) == ["hello again"]
    problems = [each["problem"] for each in lines if each["event"] == "discord_connection_ended"]
    assert ("denies an intent" if code == 4014 else "no longer takes the token") in problems[0]


async def test_an_event_that_is_not_understood_costs_nothing_else(discord: LoopbackDiscord) -> None:
    """nextcord would end the connection of every server for it."""
    guild, other = discord.guild("Garden"), discord.guild("Harbour")
    mara, quay = other.member("mara"), other.channel("quay")
    with capture_logs() as lines:
        async with bridge_in(discord) as host:
            sessions = set(discord.gateway.sessions)
            for _ in range(3):
                discord.gateway.emit("GUILD_ROLE_UPDATE", {"guild_id": str(guild.id)}, guild_id=guild.id)
            discord.gateway.emit("MESSAGE_CREATE", {"id": "1"}, guild_id=guild.id)
            discord.say(mara, quay, "still there?")
            assert await hears(host) == ["still there?"]
            assert set(discord.gateway.sessions) == sessions
    told = [(each["kind"], bool(each["exc_info"])) for each in lines if each["event"] == "gateway_event_not_taken"]
    assert told[:3] == [("GUILD_ROLE_UPDATE", True), ("GUILD_ROLE_UPDATE", False), ("GUILD_ROLE_UPDATE", False)]
    assert [kind for kind, _ in told[3:]] == ["MESSAGE_CREATE"]


def test_each_kind_of_failure_is_told_in_full_once() -> None:
    failures = iter([KeyError("a"), ValueError("b"), KeyError("c")])

    def parse(_: Any) -> None:
        raise next(failures)

    take = guarded("ANYTHING", parse)
    with capture_logs() as lines:
        for _ in range(3):
            take({})
    assert [(each["reason"], each["exc_info"]) for each in lines] == [
        ("KeyError", True),
        ("ValueError", True),
        ("KeyError", False),
    ]


async def test_a_lost_connection_is_one_calm_line(discord: LoopbackDiscord) -> None:
    guild = discord.guild("Garden")
    mara, general = guild.member("mara"), guild.channel("general")
    with capture_logs() as lines:
        async with bridge_in(discord) as host:
            error = ConnectionResetError("gone")
            logging.getLogger("nextcord.shard").error(
                "Attempting a reconnect for shard ID %s in %.2fs", 0, 0.1408, exc_info=error
            )
            discord.gateway.drop()
            discord.say(mara, general, "meanwhile")
            assert await hears(host) == ["meanwhile"]
    [line] = [each for each in lines if each["event"] == "gateway_lost"]
    assert (line["shard"], line["seconds"], line["reason"]) == (0, 0.1, "ConnectionResetError")


async def test_servers_are_spread_over_shards(discord: LoopbackDiscord) -> None:
    discord.core.shards = 2
    guilds = [discord.guild(f"Guild {number}") for number in range(4)]
    places = [(guild.member(f"p{number}"), guild.channel("general")) for number, guild in enumerate(guilds)]
    with capture_logs() as lines:
        async with bridge_in(discord) as host:
            await discord.connected(2)
            for number, (person, channel) in enumerate(places):
                discord.say(person, channel, f"hello {number}")
            discord.say(places[0][0], discord.dm(places[0][0]), "hello alone")
            wanted = {*(f"hello {number}" for number in range(4)), "hello alone"}
            assert set(await hears(host, 5)) == wanted
            discord.gateway.drop()  # both at once: each resumes by itself
            for number, (person, channel) in enumerate(places):
                discord.say(person, channel, f"again {number}")
            assert sorted(await hears(host, 4)) == [f"again {number}" for number in range(4)]
    assert [each["shards"] for each in lines if each["event"] == "discord_connected"] == [2]
    assert {(guild.id >> 22) % 2 for guild in guilds} == {0, 1}
