from typing import Any

import nextcord
import pytest

from tests.servers.discord.clients import running
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.permissions import NONE, Permission


async def test_threads_are_heard_of_and_made(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    async with running(discord) as client:
        said = discord.say(mara, general, "grow")
        thread = guild.thread(said, "From a message", mara)
        heard = await client.hears("thread_create")
        assert (heard.id, heard.parent_id, heard.owner_id) == (said.id, general.id, mara.id)
        assert discord.messages(general) == [said]
        discord.say(mara, thread, "inside")
        inside = await client.hears("message", 2)
        assert isinstance(inside.channel, nextcord.Thread)
        place: Any = client.get_channel(general.id)
        made = await place.create_thread(name="Mine", type=nextcord.ChannelType.public_thread)
        told = discord.messages(general)[1]
        assert (told.kind, told.content, told.reply_to) == (18, "Mine", None)
        assert (await client.hears("message", 3)).type is nextcord.MessageType.thread_created
        sent = await made.send("first")
        assert [one.content for one in discord.messages(discord.core.world.channel(made.id))] == ["first"]
        grown = await (await place.send("seed")).create_thread(name="Grown")
        assert grown.parent_id == general.id
        await made.edit(archived=True)
        assert discord.core.world.channel(made.id).archived
        await sent.channel.send("wakes it")
        assert not discord.core.world.channel(made.id).archived
        await made.delete()
        await client.hears("thread_delete")


async def test_a_private_thread_is_heard_of_when_the_bot_is_let_in(discord: LoopbackDiscord) -> None:
    guild = discord.guild(permissions=NONE)
    mara, ben, general = guild.member("mara"), guild.member("ben"), guild.channel("general")
    async with running(discord) as client:
        private = guild.thread(general, "private", mara, private=True, members=[ben])
        discord.say(ben, private, "not for the bot")
        with pytest.raises(nextcord.Forbidden):
            await client.fetch_channel(private.id)
        discord.follow(private, discord.bot)
        await client.hears("thread_join")
        discord.say(ben, private, "for the bot")
        assert (await client.hears("message")).content == "for the bot"
        fetched: Any = await client.fetch_channel(private.id)
        assert {one.id for one in await fetched.fetch_members()} == {mara.id, ben.id, discord.bot.id}


async def test_forum_posts(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, forum = guild.member("mara"), guild.forum("ideas")
    async with running(discord) as client:
        thread, first = guild.post(forum, "An idea", mara, "Let us")
        heard = await client.hears("message")
        assert (heard.id, heard.channel.id, heard.channel.parent_id) == (first.id, thread.id, forum.id)
        place: Any = client.get_channel(forum.id)
        made = await place.create_thread(name="Mine", content="My idea")
        (said,) = discord.messages(discord.core.world.channel(made.id))
        assert (said.id, said.content) == (made.id, "My idea")
        webhook = await place.create_webhook(name="Personas")
        with pytest.raises(nextcord.HTTPException) as refused:
            await webhook.send("no thread")
        assert refused.value.code == 220001
        await webhook.send("in it", thread=nextcord.Object(thread.id))
        assert [one.content for one in discord.messages(thread)] == ["Let us", "in it"]


async def test_direct_messages(discord: LoopbackDiscord) -> None:
    mara, ben = discord.user("mara", global_name="Mara M."), discord.user("ben")
    async with running(discord) as client:
        discord.say(mara, discord.dm(mara), "psst")
        heard = await client.hears("message")
        assert isinstance(heard.channel, nextcord.DMChannel)
        assert heard.author.display_name == "Mara M."
        await heard.reply("yes?")
        (_, answer) = discord.messages(discord.dm(mara))
        assert (answer.content, answer.reply_to, answer.mentions) == ("yes?", heard.id, (mara.id,))
        person = await client.fetch_user(ben.id)
        await person.send("hello")
        assert [one.content for one in discord.messages(discord.dm(ben))] == ["hello"]
        discord.close_direct(ben)
        with pytest.raises(nextcord.Forbidden) as refused:
            await person.send("hello?")
        assert refused.value.code == 50007


async def test_people_and_channels_change(discord: LoopbackDiscord) -> None:
    guild = discord.guild(permissions=Permission.BAN_MEMBERS)
    role = guild.role("Gardeners")
    mara, general = guild.member("mara"), guild.channel("general")
    async with running(discord) as client:
        (seen,) = client.guilds
        member = seen.get_member(mara.id)
        assert member is not None
        guild.nick(mara, "M")
        await client.hears("member_update")
        guild.give(mara, role)
        await client.hears("member_update", 2)
        discord.rename(mara, "mara2", global_name="Mara the second")
        await client.hears("user_update")
        assert (member.nick, member.name) == ("M", "mara2")
        assert [one.name for one in member.roles] == ["@everyone", "Gardeners"]
        ben = guild.member("ben")
        assert (await client.hears("member_join")).id == ben.id
        guild.ban(ben)
        await client.hears("member_ban")
        assert (await client.hears("raw_member_remove")).user.id == ben.id
        assert [one.user.id async for one in seen.bans()] == [ben.id]
        guild.unban(ben)
        await client.hears("member_unban")
        discord.rename_channel(general, "talk")
        assert (await client.hears("guild_channel_update")).name == "general"
        discord.overwrite(general, role, deny=Permission.VIEW_CHANNEL)
        await client.hears("guild_channel_update", 2)
        place: Any = client.get_channel(general.id)
        assert place.name == "talk"
        assert place.permissions_for(member).view_channel is False
        discord.delete_channel(general)
        await client.hears("guild_channel_delete")
        guild.rename("Park")
        await client.hears("guild_update")
        assert seen.name == "Park"


async def test_the_client_reads_and_changes_servers(discord: LoopbackDiscord) -> None:
    powers = Permission.MANAGE_CHANNELS | Permission.MANAGE_ROLES | Permission.BAN_MEMBERS | Permission.KICK_MEMBERS
    guild = discord.guild("Garden", permissions=powers)
    mara, ben = guild.member("mara"), guild.member("ben")
    general = guild.channel("general")
    async with running(discord) as client:
        fetched = await client.fetch_guild(guild.id)
        assert (fetched.name, fetched.owner_id) == ("Garden", guild.owner.id)
        assert [one.name for one in await fetched.fetch_channels()] == ["general"]
        assert (await fetched.fetch_member(mara.id)).name == "mara"
        assert {one.name async for one in fetched.fetch_members(limit=None)} == {"owner", "agent", "mara", "ben"}
        with pytest.raises(nextcord.NotFound):
            await fetched.fetch_member(12345)
        (seen,) = client.guilds
        made = await seen.create_text_channel("new", topic="T")
        assert [one.name for one in guild.channels] == ["general", "new"]
        hidden_from = seen.get_member(mara.id)
        assert hidden_from is not None
        await made.set_permissions(hidden_from, view_channel=False)
        assert mara.id not in discord.readers(discord.core.world.channel(made.id))
        await made.edit(name="newer")
        await made.delete()
        assert [one.name for one in guild.channels] == [general.name]
        role = await seen.create_role(name="R")
        member = seen.get_member(mara.id)
        assert member is not None
        await member.add_roles(role)
        assert discord.core.world.member(guild.id, mara.id).roles == (role.id,)
        await member.kick()
        await seen.ban(nextcord.Object(ben.id))
        assert {one.user_id for one in guild.members} == {guild.owner.id, discord.bot.id}
        about = await client.application_info()
        assert (about.id, about.owner.id) == (discord.application_id, discord.owner.id)
        await seen.leave()
        await client.hears("guild_remove")
    # A ban's `delete_message_seconds` belongs into the body; nextcord 3.2 puts it into the query.
    assert all(one.startswith("PUT /guilds/{guild_id}/bans/{user_id}: ") for one in await discord.violations())
    discord.core.requests.clear()
