"""Who can read a channel, as the real client's cache knows it, against the loopback Discord's own reckoning."""

import nextcord
import pytest

from agent.places import Visibility
from bridges.discord.places import channel_of, visibility_of
from bridges.discord.rights import may_manage
from tests.servers.discord.clients import running
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.permissions import Permission

VIEW = Permission.VIEW_CHANNEL
NOTHING = Permission(0)


async def test_visibility_comes_from_roles_and_overwrites(discord: LoopbackDiscord) -> None:
    guild = discord.guild("Garden")
    mara, role = guild.member("mara"), guild.role("Gardeners")
    expected = {
        guild.channel("open"): Visibility.EVERYONE,
        guild.channel("closed", rules={guild.everyone: (NOTHING, VIEW)}): Visibility.RESTRICTED,
        guild.channel("team", rules={guild.everyone: (NOTHING, VIEW), role: (VIEW, NOTHING)}): Visibility.RESTRICTED,
        guild.channel("without", rules={role: (NOTHING, VIEW)}): Visibility.RESTRICTED,
        guild.channel("not-mara", rules={mara: (NOTHING, VIEW)}): Visibility.RESTRICTED,
        guild.channel("no-past", rules={guild.everyone: (NOTHING, Permission.READ_MESSAGE_HISTORY)}): (
            Visibility.RESTRICTED
        ),
        guild.channel("mute", rules={guild.everyone: (NOTHING, Permission.SEND_MESSAGES)}): Visibility.EVERYONE,
        guild.forum("ideas"): Visibility.EVERYONE,
    }
    async with running(discord) as client:
        seen = client.get_guild(guild.id)
        assert seen is not None
        for channel, visibility in expected.items():
            found = seen.get_channel(channel.id)
            assert found is not None
            assert visibility_of(found) is visibility, channel.name
            if visibility is Visibility.EVERYONE:
                everybody = {member.user_id for member in guild.members}
                assert discord.readers(channel) >= everybody


async def test_a_thread_is_read_by_whoever_reads_its_parent(discord: LoopbackDiscord) -> None:
    guild = discord.guild("Garden", permissions=Permission.ADMINISTRATOR)
    mara = guild.member("mara")
    general, closed = guild.channel("general"), guild.channel("closed", rules={guild.everyone: (NOTHING, VIEW)})
    plans = guild.thread(general, "plans", mara)
    secret = guild.thread(general, "secret", mara, private=True)
    inner = guild.thread(closed, "inner", mara)
    async with running(discord) as client:
        seen = client.get_guild(guild.id)
        assert seen is not None
        refs = {}
        for thread in (plans, secret, inner):
            found = seen.get_thread(thread.id) or await client.fetch_channel(thread.id)
            assert isinstance(found, nextcord.Thread)
            refs[thread.name] = channel_of(found)
    assert {name: ref.visibility for name, ref in refs.items()} == {
        "plans": Visibility.EVERYONE,
        "secret": Visibility.RESTRICTED,
        "inner": Visibility.RESTRICTED,
    }
    assert (refs["plans"].parent_external_id, refs["plans"].parent_name) == (str(general.id), "general")


@pytest.mark.parametrize("granted", [Permission.MANAGE_GUILD, Permission.ADMINISTRATOR, Permission.SEND_MESSAGES])
async def test_who_manages(discord: LoopbackDiscord, granted: Permission) -> None:
    guild = discord.guild("Garden")
    role = guild.role("Helpers", granted)
    mara, ben = guild.member("mara", roles=[role]), guild.member("ben")
    async with running(discord) as client:
        seen = client.get_guild(guild.id)
        assert seen is not None
        assert may_manage(seen, mara.id, [role.id]) is (granted is not Permission.SEND_MESSAGES)
        assert not may_manage(seen, ben.id, [])
        assert may_manage(seen, guild.owner.id, [])
