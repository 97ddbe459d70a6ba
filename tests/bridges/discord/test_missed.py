"""What was said while the agent did not listen: answered once when it is young enough, and never twice."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from agent.clock import SystemClock
from agent.events import MessageCreated
from agent.testing.recording_host import RecordingHost
from bridges.discord import lanes, missed
from tests.bridges.discord.worlds import discord_agent, heard
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.permissions import Permission
from tests.servers.discord.records import Channel

NOTHING = Permission(0)


class Ahead(SystemClock):
    """The time, some minutes on."""

    def __init__(self, minutes: float) -> None:
        self._by = timedelta(minutes=minutes)

    def now(self) -> datetime:
        return datetime.now(UTC) + self._by


def own(discord: LoopbackDiscord, channel: Channel) -> list[str]:
    return [each.content for each in discord.messages(channel) if discord.is_own(each)]


def texts(host: RecordingHost) -> list[str]:
    return [event.text for event in host.events if isinstance(event, MessageCreated)]


async def test_what_is_said_between_two_sessions_is_answered_once(discord: LoopbackDiscord, database_url: str) -> None:
    guild = discord.guild(permissions=Permission.ADMINISTRATOR)
    mara, general = guild.member("mara"), guild.channel("general")
    plans = guild.thread(general, "plans", mara)
    direct = discord.dm(mara)
    async with discord_agent(discord, database_url) as world:
        for channel in (general, direct):
            asked = discord.say(mara, channel, f"{discord.bot.mention} before")
            await discord.answer(channel, after=asked)
        discord.gateway.invalidate(resumable=False)
        missed_ones = {
            channel.id: discord.say(mara, channel, f"{discord.bot.mention} missed")
            for channel in (general, plans, direct)
        }
        discord.say(mara, general, "to nobody")
        for channel in (general, plans, direct):
            await discord.answer(channel, after=missed_ones[channel.id])
        await discord.connected()
        after = discord.say(mara, general, f"{discord.bot.mention} after")
        await discord.answer(general, after=after)
        await world.agent.idle()
        assert [len(own(discord, channel)) for channel in (general, plans, direct)] == [3, 1, 2]
        assert len(world.model.requests) == 6
        assert {each.reply_to for each in discord.messages(plans) if discord.is_own(each)} == {missed_ones[plans.id].id}


async def test_what_is_said_while_the_agent_restarts_is_answered_once(
    discord: LoopbackDiscord, database_url: str
) -> None:
    guild = discord.guild()
    mara, general, other = guild.member("mara"), guild.channel("general"), guild.channel("other")
    direct = discord.dm(mara)
    async with discord_agent(discord, database_url):
        for channel in (general, direct):
            asked = discord.say(mara, channel, f"{discord.bot.mention} before")
            await discord.answer(channel, after=asked)
    said = {
        channel.id: discord.say(mara, channel, f"{discord.bot.mention} missed") for channel in (general, other, direct)
    }
    deleted = discord.say(mara, other, f"{discord.bot.mention} never mind")
    discord.delete(deleted)
    for _ in range(2):
        async with discord_agent(discord, database_url) as world:
            for channel in (general, other, direct):
                await discord.answer(channel, after=said[channel.id])
            await world.agent.idle()
            assert [len(own(discord, channel)) for channel in (general, other, direct)] == [2, 1, 2]


async def test_what_is_older_than_five_minutes_is_not_answered(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    discord.say(mara, general, "said")
    for minutes, expected in ((4.5, ["said"]), (5.5, [])):
        async with heard(discord, clock=Ahead(minutes)) as host:
            await host.rest(0.1)
            assert texts(host) == expected


async def test_how_far_a_channel_was_heard_is_kept_and_what_is_old_is_forgotten(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    direct = discord.dm(mara)
    host = RecordingHost()
    async with heard(discord, host):
        said = [discord.say(mara, channel, "hello") for channel in (general, direct)]
        for _ in said:
            await host.next(MessageCreated)
    state = host.state("discord").values
    assert {key: value for key, value in state.items() if key.startswith("heard:")} == {
        f"heard:channel:{general.id}": str(said[0].id),
        f"heard:direct:{direct.id}": str(said[1].id),
    }
    async with heard(discord, host):
        await host.rest(0.1)
    assert texts(host) == ["hello"] * 2
    assert len(discord.calls("GET", "/channels/{channel_id}/messages")) == 1  # of the direct conversation
    async with heard(discord, host, clock=Ahead(6)):
        await host.rest(0)
    assert [key for key in state if key.startswith("heard:")] == [f"heard:direct:{direct.id}"]


async def test_what_is_heard_before_the_gap_is_closed_does_not_hide_it(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    host = RecordingHost()
    async with heard(discord, host):
        discord.say(mara, general, "before")
        await host.next(MessageCreated)
        missing = discord.faults.fail(times=None, method="GET", path="/channels/{channel_id}/messages")
        discord.gateway.invalidate(resumable=False)
        discord.say(mara, general, "missed")
        await discord.until(lambda: len([one for one in discord.gateway.received if one["op"] == 2]) == 2)
        discord.say(mara, general, "after")
        await discord.called("GET", "/channels/{channel_id}/messages")
    discord.faults.remove(missing)
    async with heard(discord, host):
        await discord.until(lambda: len(texts(host)) >= 3)
    assert sorted(set(texts(host))) == ["after", "before", "missed"]


async def test_more_than_a_page_is_fetched_in_order(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    for number in range(250):
        discord.say(mara, general, str(number))
    async with heard(discord) as host:
        discord.say(mara, general, "now")
        assert [(await host.next(MessageCreated)).text for _ in range(251)] == [*map(str, range(250)), "now"]
        assert len(discord.calls("GET", "/channels/{channel_id}/messages")) == 3


async def test_channels_that_cannot_be_read_are_left_alone(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, ideas = guild.member("mara"), guild.forum("ideas")
    [own_role] = [role for role in discord.core.world.roles.values() if role.managed]
    closed = guild.channel(
        "closed",
        rules={
            guild.everyone: (NOTHING, Permission.VIEW_CHANNEL),
            own_role: (NOTHING, Permission.VIEW_CHANNEL),
            mara: (Permission.VIEW_CHANNEL, NOTHING),
        },
    )
    blind = guild.channel("blind", rules={discord.bot: (NOTHING, Permission.READ_MESSAGE_HISTORY)})
    for channel in (closed, blind):
        discord.say(mara, channel, "hello")
    guild.post(ideas, "More tea", mara, "in a post")
    async with heard(discord) as host:
        assert (await host.next(MessageCreated)).text == "in a post"
        await host.rest(0.05)
        assert len(discord.calls("GET", "/channels/{channel_id}/messages")) == 1


async def test_an_archived_thread_is_never_taken_for_a_direct_conversation(discord: LoopbackDiscord) -> None:
    guild = discord.guild(permissions=Permission.ADMINISTRATOR)
    mara, general = guild.member("mara"), guild.channel("general")
    plans = guild.thread(general, "plans", mara, private=True)
    host = RecordingHost()
    async with heard(discord, host):
        discord.say(mara, plans, "secret")
        await host.next(MessageCreated)
    discord.say(mara, plans, "more")
    discord.archive(plans)
    async with heard(discord, host):
        await host.rest(0.1)
    assert {event.server.external_id for event in host.events} == {str(guild.id)}


async def test_what_did_not_fit_is_fetched_when_there_is_room(
    discord: LoopbackDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(missed, "WRITE_EVERY", 0.05)
    monkeypatch.setattr(lanes.Lanes.__init__, "__defaults__", (5,))
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    gate = asyncio.Event()

    class SlowHost(RecordingHost):
        async def receive(self, event: object) -> None:
            await gate.wait()
            await super().receive(event)  # type: ignore[arg-type]

    host = SlowHost()
    async with heard(discord, host):
        for number in range(20):
            discord.say(mara, general, str(number))
        await host.rest(0.05)
        gate.set()
        while len(set(texts(host))) < 20:
            await host.rest(0.02)
        discord.say(mara, general, "after")
        while "after" not in texts(host):
            await host.rest(0.02)
    assert host.state("discord").values[f"heard:channel:{general.id}"] == str(discord.messages(general)[-1].id)


async def test_each_shard_fetches_what_its_own_guilds_missed(discord: LoopbackDiscord) -> None:
    discord.core.shards = 2
    mara = discord.user("mara")
    guilds = [discord.guild(f"G{number}") for number in range(4)]
    channels = [guild.channel("general") for guild in guilds if guild.member(mara)]
    empty = discord.dm(mara)
    async with heard(discord) as host:
        discord.say(mara, empty, "hello")
        await host.next(MessageCreated)
        discord.gateway.invalidate(resumable=False)
        for channel in (*channels, empty):
            discord.say(mara, channel, f"missed in {channel.id}")
        expected = sorted(f"missed in {channel.id}" for channel in (*channels, empty))
        while sorted(set(texts(host)) - {"hello"}) != expected:
            await host.rest(0.02)
        await host.rest(0.1)
        assert sorted(texts(host)) == sorted([*expected, "hello"])
        places = {event.server.external_id for event in host.events if isinstance(event, MessageCreated)}
        assert places == {*(str(guild.id) for guild in guilds), f"direct:{empty.id}"}


async def test_direct_messages_are_fetched_by_an_agent_that_is_in_no_guild(discord: LoopbackDiscord) -> None:
    guild = discord.guild("Garden")
    mara = guild.member("mara")
    host = RecordingHost()
    async with heard(discord, host):
        discord.say(mara, discord.dm(mara), "hello")
        await host.next(MessageCreated)
        guild.leave(discord.bot)
        await host.rest(0.05)
    discord.say(mara, discord.dm(mara), "missed")
    async with heard(discord, host):
        assert (await host.next(MessageCreated)).text == "missed"
