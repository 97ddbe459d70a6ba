"""What the core is told of members, channels and guilds, through the real client."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import pytest_asyncio

from agent.directory_changes import (
    ChannelChanged,
    ChannelRemoved,
    DirectoryChange,
    MemberLeft,
    MembersSeen,
    ServerJoined,
    ServerLeft,
)
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.places import ServerKind, ServerRef, Visibility
from agent.testing.recording_host import RecordingHost
from tests.bridges.discord.worlds import heard
from tests.servers.discord.events import Intent
from tests.servers.discord.guilds import Guild
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.permissions import Permission
from tests.servers.discord.records import Channel, User

VIEW, NOTHING = Permission.VIEW_CHANNEL, Permission(0)


@dataclass
class Garden:
    """A guild that the bridge knows by now."""

    host: RecordingHost
    guild: Guild
    general: Channel
    mara: User

    def names(self) -> dict[str, str]:
        """Everybody who was told of as here, by the last name."""
        found: dict[str, str] = {}
        for change in self.host.changes:
            if isinstance(change, MembersSeen) and change.server.external_id == str(self.guild.id):
                if change.is_complete:
                    found.clear()
                found |= {member.external_id: member.display_name for member in change.members}
            elif isinstance(change, MemberLeft):
                found.pop(change.key.id, None)
        return found


def is_channel(channel: Channel, **expected: object) -> Callable[[DirectoryChange], bool]:
    def fits(change: DirectoryChange) -> bool:
        return (
            isinstance(change, ChannelChanged)
            and change.channel.external_id == str(channel.id)
            and all(getattr(change.channel, name) == value for name, value in expected.items())
        )

    return fits


def is_seen(user: User, name: str) -> Callable[[DirectoryChange], bool]:
    def fits(change: DirectoryChange) -> bool:
        return isinstance(change, MembersSeen) and any(
            (member.external_id, member.display_name) == (str(user.id), name) for member in change.members
        )

    return fits


@pytest_asyncio.fixture
async def garden(discord: LoopbackDiscord) -> AsyncIterator[Garden]:
    guild = discord.guild("Garden")
    mara, general = guild.member("mara", nick="Mara M."), guild.channel("general")
    async with heard(discord) as host:
        await host.told(lambda change: isinstance(change, MembersSeen))
        yield Garden(host, guild, general, mara)


async def test_everything_is_told_at_the_start(discord: LoopbackDiscord) -> None:
    guild = discord.guild("Garden", permissions=Permission.ADMINISTRATOR)
    mara, robot = guild.member("mara", nick="Mara M."), guild.member(discord.user("robot", bot=True))
    general = guild.channel("general")
    team = guild.channel("team", rules={guild.everyone: (NOTHING, VIEW)})
    plans = guild.thread(general, "plans", mara)
    async with heard(discord) as host:
        seen = await host.told(lambda change: isinstance(change, MembersSeen))
        assert isinstance(seen, MembersSeen)
        assert seen.is_complete
        assert {member.display_name for member in seen.members} == {"Mara M.", "owner"}
        [member] = [each for each in seen.members if each.external_id == str(mara.id)]
        assert (member.username, member.kind, member.is_bot) == ("mara", ParticipantKind.DISCORD_USER, False)
        assert str(robot.id) not in {each.external_id for each in seen.members}
        channels = {each.channel.name: each.channel for each in host.changes if isinstance(each, ChannelChanged)}
        assert channels["general"].visibility is Visibility.EVERYONE
        assert channels["team"].visibility is Visibility.RESTRICTED
        assert channels["plans"].parent_external_id == str(general.id)
        assert host.changes[0] == ServerJoined(ServerRef("discord", str(guild.id), "Garden", ServerKind.GUILD))
        assert {channels[name].external_id for name in ("team", "plans")} == {str(team.id), str(plans.id)}


async def test_joins_leaves_and_names(discord: LoopbackDiscord, garden: Garden) -> None:
    host, guild = garden.host, garden.guild
    ben = guild.member("ben")
    await host.told(is_seen(ben, "ben"))
    guild.nick(ben, "Benno")
    await host.told(is_seen(ben, "Benno"))
    guild.nick(ben, None)
    discord.rename(ben, global_name="Ben B.")
    await host.told(is_seen(ben, "Ben B."))
    guild.leave(ben)
    key = ParticipantKey(ParticipantKind.DISCORD_USER, str(ben.id))
    await host.told(lambda change: isinstance(change, MemberLeft) and change.key == key)
    guild.ban(garden.mara)
    await host.told(lambda change: isinstance(change, MemberLeft) and change.key.id == str(garden.mara.id))
    assert set(garden.names().values()) == {"owner"}


async def test_a_rename_shows_in_every_guild(discord: LoopbackDiscord) -> None:
    mara = discord.user("mara")
    guilds = [discord.guild(f"G{number}") for number in range(2)]
    for guild in guilds:
        guild.member(mara)
    async with heard(discord) as host:
        discord.rename(mara, "maria")
        await host.told(is_seen(mara, "maria"))
        for guild in guilds:
            await host.told(
                lambda change, guild=guild: (
                    is_seen(mara, "maria")(change)  # type: ignore[misc]
                    and change.server.external_id == str(guild.id)
                )
            )


async def test_channels_made_renamed_and_deleted(discord: LoopbackDiscord, garden: Garden) -> None:
    host, guild = garden.host, garden.guild
    tea = guild.channel("tea")
    await host.told(is_channel(tea, name="tea"))
    plans = guild.thread(tea, "plans", garden.mara)
    await host.told(is_channel(plans, name="plans", parent_name="tea"))
    discord.rename_channel(tea, "kettle")
    await host.told(is_channel(tea, name="kettle"))
    await host.told(is_channel(plans, parent_name="kettle"))
    discord.rename_channel(plans, "old plans")
    await host.told(is_channel(plans, name="old plans"))
    for channel in (plans, tea):
        discord.delete_channel(channel)
        await host.told(
            lambda change, channel=channel: (
                isinstance(change, ChannelRemoved)  # type: ignore[misc]
                and change.external_id == str(channel.id)
            )
        )


async def test_who_reads_a_channel_follows_roles_and_overwrites(discord: LoopbackDiscord, garden: Garden) -> None:
    host, guild, general = garden.host, garden.guild, garden.general
    plans = guild.thread(general, "plans", garden.mara)
    await host.told(is_channel(plans))
    for step, visibility in (
        (lambda: discord.overwrite(general, guild.everyone, deny=VIEW), Visibility.RESTRICTED),
        (lambda: discord.overwrite(general, guild.everyone, allow=VIEW), Visibility.EVERYONE),
        (lambda: discord.overwrite(general, garden.mara, deny=VIEW), Visibility.RESTRICTED),
        (lambda: discord.overwrite(general, garden.mara), Visibility.EVERYONE),
        (lambda: discord.overwrite(general, guild.everyone), Visibility.EVERYONE),
        (lambda: guild.allow(guild.everyone, Permission.SEND_MESSAGES), Visibility.RESTRICTED),
        (lambda: guild.allow(guild.everyone, VIEW | Permission.READ_MESSAGE_HISTORY), Visibility.EVERYONE),
    ):
        host.changes.clear()
        step()
        for channel in (general, plans):
            await host.told(is_channel(channel, visibility=visibility))
        last = [each for each in host.changes if isinstance(each, ChannelChanged)]
        assert {each.channel.visibility for each in last if each.channel.external_id == str(general.id)} == {visibility}


async def test_somebody_unknown_is_shut_out_all_the_same(discord: LoopbackDiscord) -> None:
    discord.deny_intents(Intent.GUILD_MEMBERS)
    guild = discord.guild()
    mara = guild.member("mara")
    closed = guild.channel("not-mara", rules={mara: (NOTHING, VIEW)})
    async with heard(discord, members=False) as host:
        await host.told(is_channel(closed, visibility=Visibility.RESTRICTED))
        [seen] = [change for change in host.changes if isinstance(change, MembersSeen)]
        assert not seen.is_complete


async def test_guilds_joined_renamed_and_left(discord: LoopbackDiscord, garden: Garden) -> None:
    host = garden.host
    other = discord.guild("Other")
    await host.told(lambda change: isinstance(change, ServerJoined) and change.server.name == "Other")
    other.rename("Another")
    await host.told(lambda change: isinstance(change, ServerJoined) and change.server.name == "Another")
    other.leave(discord.bot)
    left = await host.told(lambda change: isinstance(change, ServerLeft))
    assert isinstance(left, ServerLeft)
    assert left.server.external_id == str(other.id)
    discord.outage(garden.guild)
    discord.recover(garden.guild)
    await host.rest(0.1)
    assert [each.server.external_id for each in host.changes if isinstance(each, ServerLeft)] == [str(other.id)]


async def test_what_happened_while_the_agent_was_away(discord: LoopbackDiscord) -> None:
    guild, left = discord.guild("Garden"), discord.guild("Left")
    mara, general = guild.member("mara"), guild.channel("general")
    host = RecordingHost()
    async with heard(discord, host):
        await host.told(lambda change: isinstance(change, MembersSeen) and change.server.name == "Left")
        later = guild.channel("later")
        await host.told(is_channel(later))
        await host.rest(0.05)
    host.changes.clear()
    left.leave(discord.bot)
    guild.leave(mara)
    for channel in (general, later):
        discord.delete_channel(channel)
    async with heard(discord, host):
        gone = await host.told(lambda change: isinstance(change, ServerLeft))
        assert isinstance(gone, ServerLeft)
        assert gone.server == ServerRef("discord", str(left.id), "Left", ServerKind.GUILD)
        seen = await host.told(lambda change: isinstance(change, MembersSeen))
        assert isinstance(seen, MembersSeen)
        assert seen.is_complete
        assert [member.display_name for member in seen.members] == ["owner"]
        removed = {each.external_id for each in host.changes if isinstance(each, ChannelRemoved)}
        assert removed == {str(general.id), str(later.id)}
    host.changes.clear()
    async with heard(discord, host):
        await host.told(lambda change: isinstance(change, MembersSeen))
        assert [each for each in host.changes if isinstance(each, ServerLeft | ChannelRemoved)] == []


async def test_what_happened_while_the_session_was_gone(discord: LoopbackDiscord) -> None:
    guild, left = discord.guild("Garden"), discord.guild("Left")
    general = guild.channel("general")
    async with heard(discord) as host:
        await host.told(lambda change: isinstance(change, MembersSeen) and change.server.name == "Left")
        await host.rest(0.05)
        discord.gateway.invalidate(resumable=False)
        left.leave(discord.bot)
        discord.delete_channel(general)
        await host.told(lambda change: isinstance(change, ServerLeft) and change.server.external_id == str(left.id))
        await host.told(lambda change: isinstance(change, ChannelRemoved))
