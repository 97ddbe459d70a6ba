"""Earlier messages and files, through the real client."""

import pytest

from agent.events import Attachment
from agent.files import FileRefused
from agent.places import ChannelRef, ServerKind, ServerRef
from agent.testing.recording_host import RecordingHost
from bridges.discord import DiscordBridge
from tests.bridges.discord.worlds import discord_agent, settings_of
from tests.servers.discord.events import Intent
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.permissions import Permission
from tests.servers.discord.records import Channel, Upload


def place_of(guild_id: int, channel: Channel) -> tuple[ServerRef, ChannelRef]:
    return ServerRef("discord", str(guild_id), "Garden"), ChannelRef(str(channel.id), channel.name)


async def test_history_tells_who_said_what_and_in_answer_to_what(discord: LoopbackDiscord) -> None:
    guild = discord.guild("Garden")
    role = guild.role("Keepers", Permission.MANAGE_GUILD)
    mara, ben = guild.member("mara", nick="Mara"), guild.member("ben", roles=[role])
    general = guild.channel("general")
    host = RecordingHost()
    bridge = DiscordBridge(settings_of(discord))
    await bridge.start(host)
    try:
        first = discord.say(mara, general, "Where is the kettle?", attachments=[Upload("a.txt", b"tea", "text/plain")])
        discord.say(mara, general, kind=7)
        answer = discord.say(discord.bot, general, "In the kitchen.", reply_to=first)
        persona = discord.post(discord.webhook(general, "Rose", application_id=discord.application_id), "Or the shed.")
        foreign = discord.post(discord.webhook(general, "Proxy"), "I am Lyra", username="Lyra")
        host.sent[str(foreign.id)] = 3  # a webhook that was lost, by which a persona once spoke
        poll = {"question": {"text": "Tea?"}, "answers": [{"poll_media": {"text": "Yes"}}], "duration": 24}
        last = discord.say(ben, general, poll=poll)
        gone = discord.say(mara, general, "never mind")
        discord.delete(gone)
        history = await bridge.history(*place_of(guild.id, general), 50)
        assert [each.message_id for each in history] == [str(one.id) for one in (first, answer, persona, foreign, last)]
        assert [each.from_agent for each in history] == [False, True, True, True, False]
        assert [each.text for each in history][:2] == ["Where is the kettle?", "In the kitchen."]
        assert [each.reply_to for each in history] == [None, str(first.id), None, None, None]
        assert history[0].attachments[0].name == "a.txt"
        assert history[-1].extras == ("poll: Tea?\n- Yes",)
        # REST tells no nicknames and roles: what is known of the member counts.
        assert [each.author.display_name for each in (history[0], history[3], history[4])] == ["Mara", "Lyra", "ben"]
        assert [each.author.can_manage for each in history] == [False, False, False, False, True]
        assert [each.message_id for each in await bridge.history(*place_of(guild.id, general), 1)] == [str(last.id)]
        file = history[0].attachments[0]
        assert await bridge.fetch(file, 3) == b"tea"
        with pytest.raises(FileRefused, match="larger"):
            await bridge.fetch(file, 2)
        with pytest.raises(FileRefused, match="not there any more"):
            await bridge.fetch(Attachment("b.txt", "text/plain", 3, f"{discord.cdn_base}/attachments/1/2/b.txt"), 3)
        with pytest.raises(FileRefused, match="cannot be read"):
            await bridge.fetch(Attachment("b.txt", "text/plain", 3, "http://127.0.0.1:1/b.txt"), 3)
    finally:
        await bridge.stop()


async def test_history_of_a_direct_conversation(discord: LoopbackDiscord) -> None:
    discord.guild()
    mara = discord.user("mara", global_name="Mara")
    channel = discord.dm(mara)
    bridge = DiscordBridge(settings_of(discord))
    await bridge.start(RecordingHost())
    try:
        discord.say(mara, channel, "hello")
        server = ServerRef("discord", f"direct:{channel.id}", "Mara", ServerKind.DIRECT)
        [message] = await bridge.history(server, ChannelRef(str(channel.id), "Mara"), 10)
        assert (message.author.display_name, message.author.can_manage) == ("Mara", True)
    finally:
        await bridge.stop()


async def test_without_message_content_what_cannot_be_read_is_left_out(discord: LoopbackDiscord) -> None:
    discord.deny_intents(Intent.MESSAGE_CONTENT)
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    bridge = DiscordBridge(settings_of(discord, message_content=False))
    await bridge.start(RecordingHost())
    try:
        discord.say(mara, general, "nothing for you")
        discord.say(mara, general, f"{discord.bot.mention} hello")
        history = await bridge.history(*place_of(guild.id, general), 10)
        assert [each.text for each in history] == [f"{discord.bot.mention} hello"]
    finally:
        await bridge.stop()


async def test_an_answer_comes_without_history_too(discord: LoopbackDiscord, database_url: str) -> None:
    guild = discord.guild()
    mara = guild.member("mara")
    general = guild.channel("general", rules={discord.bot: (Permission(0), Permission.READ_MESSAGE_HISTORY)})
    async with discord_agent(discord, database_url) as world:
        asked = discord.say(mara, general, f"{discord.bot.mention} hello")
        assert (await discord.answer(general, after=asked)).content == "Well."
        assert len(world.model.requests) == 1
