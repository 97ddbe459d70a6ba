"""The agent's own messages: once under a nonce, found again, edited, withdrawn, refused."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from agent.bridge import OutcomeUnknown, SendFailed, Sent, SentMessage
from agent.contracts.cards import Card, CardKind
from agent.events import MessageCreated
from agent.files import ReplyFile
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.places import ChannelRef
from agent.testing.recording_host import RecordingHost
from bridges.discord.finding import NotReadable
from tests.bridges.discord.sending import MESSAGES, bridge_in, directly, said, to, unasked_mentions
from tests.servers.discord.guilds import Guild
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.permissions import NONE, Permission
from tests.servers.discord.records import Channel


def shut(guild: Guild) -> Channel:
    """A channel in which nobody may speak."""
    return guild.channel("shut", rules={guild.everyone: (NONE, Permission.SEND_MESSAGES)})


async def test_an_answer_that_was_lost_is_posted_once(discord: LoopbackDiscord) -> None:
    guild = discord.guild("Garden")
    general = guild.channel("general")
    async with bridge_in(discord) as bridge:
        discord.faults.lose(method="POST", path=MESSAGES)
        assert isinstance(await bridge.send(to(guild, general, "once")), OutcomeUnknown)
        again = await bridge.send(to(guild, general, "once"))
        assert again == Sent(str(discord.messages(general)[0].id))
    assert said(discord, general) == [(discord.bot.name, "once")]


async def test_a_slow_limit_is_waited_for_and_other_channels_go_on(discord: LoopbackDiscord) -> None:
    guild = discord.guild("Garden")
    busy, calm = guild.channel("busy"), guild.channel("calm")
    async with bridge_in(discord) as bridge:
        discord.faults.limit("POST", MESSAGES, 1, 0.6)
        await bridge.send(to(guild, busy, "first"))
        waiting = asyncio.create_task(bridge.send(to(guild, busy, "second", "key-2")))
        await asyncio.wait_for(bridge.send(to(guild, calm, "meanwhile", "key-3")), 0.4)
        assert not waiting.done()
        await waiting
    assert [text for _, text in said(discord, busy)] == ["first", "second"]


async def test_what_was_posted_is_found_and_nothing_else(discord: LoopbackDiscord) -> None:
    guild, host = discord.guild("Garden"), RecordingHost()
    mara, general = guild.member("mara"), guild.channel("general")
    async with bridge_in(discord, host) as bridge:
        discord.say(mara, general, "the same")
        first, second = to(guild, general, "the same"), to(guild, general, "the same", "key-2")
        sent = await bridge.send(first)
        assert isinstance(sent, Sent)
        assert await bridge.find_sent(first) == sent
        host.sent[sent.message_id] = None  # the outbox knows it as another row's
        assert await bridge.find_sent(second) is None


@pytest.mark.parametrize(("minutes", "is_found"), [(-5, True), (5, False)])
async def test_it_is_looked_for_since_its_row_was_made(discord: LoopbackDiscord, minutes: int, is_found: bool) -> None:
    guild = discord.guild("Garden")
    mara, general = guild.member("mara"), guild.channel("general")
    made_at = datetime.now(UTC) + timedelta(minutes=minutes)
    async with bridge_in(discord) as bridge:
        await bridge.send(to(guild, general, "long ago"))
        for number in range(120):
            discord.say(mara, general, f"number {number}")
        found = await bridge.find_sent(to(guild, general, "long ago", "another key", made_at=made_at))
    assert (found is not None) is is_found


async def test_where_the_history_may_not_be_read_nothing_is_claimed(discord: LoopbackDiscord) -> None:
    guild = discord.guild("Garden")
    general = guild.channel("general", rules={guild.everyone: (NONE, Permission.READ_MESSAGE_HISTORY)})
    async with bridge_in(discord) as bridge:
        with pytest.raises(NotReadable):
            await bridge.find_sent(to(guild, general, "once"))


async def test_a_missing_permission_is_told_once_in_a_quiet_message(
    discord: LoopbackDiscord,
) -> None:
    guild = discord.guild("Garden_1")
    mara, general = guild.member("mara"), shut(guild)
    asker = ParticipantKey(ParticipantKind.DISCORD_USER, str(mara.id))
    async with bridge_in(discord) as bridge:
        for number in range(3):
            with pytest.raises(SendFailed) as refusal:
                await bridge.send(to(guild, general, "hello", f"key-{number}", asker=asker))
            assert refusal.value.retry_after is None
        told = await discord.answer(discord.dm(mara))
        with pytest.raises(SendFailed):  # a notice is no answer
            await bridge.send(to(guild, shut(guild), "Saved", asker=asker, card=Card(CardKind.SAVED, "Saved")))
        assert "#shut of Garden\\_1: I lack a permission" in told.content
        discord.overwrite(general, guild.everyone)
        await bridge.send(to(guild, general, "now I may"))
    assert len(discord.messages(discord.dm(mara))) == 1
    assert [text for _, text in said(discord, general)] == ["now I may"]


async def test_who_takes_no_messages_is_not_told_and_nothing_breaks(discord: LoopbackDiscord) -> None:
    guild = discord.guild("Garden")
    mara, general = guild.member("mara"), guild.channel("general")
    asker = ParticipantKey(ParticipantKind.DISCORD_USER, str(mara.id))
    discord.close_direct(mara)
    async with bridge_in(discord) as bridge:
        discord.faults.refuse(50001, method="POST", path=MESSAGES)
        with pytest.raises(SendFailed):
            await bridge.send(to(guild, general, "hello", asker=asker))
        await discord.called("POST", MESSAGES, times=2)
        with pytest.raises(SendFailed):
            await bridge.send(directly(discord.dm(mara), "hello", asker=asker))
        await bridge.send(to(guild, general, "still here", "key-2"))
    assert discord.messages(discord.dm(mara)) == []


async def test_one_guild_that_refuses_does_not_touch_another(discord: LoopbackDiscord) -> None:
    garden, forge = discord.guild("Garden", permissions=Permission.VIEW_CHANNEL), discord.guild("Forge")
    general = forge.channel("general")
    async with bridge_in(discord) as bridge:
        with pytest.raises(SendFailed):
            await bridge.send(to(garden, shut(garden), "hello"))
        assert isinstance(await bridge.send(to(forge, general, "hello")), Sent)


async def test_without_the_history_it_speaks_without_referring(discord: LoopbackDiscord) -> None:
    guild = discord.guild("Garden")
    mara = guild.member("mara")
    general = guild.channel("general", rules={guild.everyone: (NONE, Permission.READ_MESSAGE_HISTORY)})
    asked = discord.say(mara, general, "hello?")
    async with bridge_in(discord) as bridge:
        await bridge.send(to(guild, general, "hello", reply_to=str(asked.id)))
    assert discord.messages(general)[-1].reply_to is None


async def test_nothing_said_in_one_server_is_posted_in_another(discord: LoopbackDiscord) -> None:
    """A thought log may be set to any id."""
    garden, forge = discord.guild("Garden"), discord.guild("Forge")
    mara, log = garden.member("mara"), forge.channel("log")
    thread, host = forge.thread(log, "plans", forge.owner), RecordingHost()
    async with bridge_in(discord, host) as bridge:
        discord.say(mara, discord.dm(mara), "hello")
        await host.next(MessageCreated)
        for channel in (log, thread, discord.dm(mara)):
            with pytest.raises(SendFailed, match="none of the server") as refusal:
                await bridge.send(to(garden, channel, "a secret of the garden"))
            assert refusal.value.retry_after is None
        wrong = replace(to(garden, log, "hello"), channel=ChannelRef("#log", "log"))
        with pytest.raises(SendFailed, match="no channel in Discord has the id '#log'"):
            await bridge.send(wrong)
        assert isinstance(await bridge.send(directly(discord.dm(mara), "hello")), Sent)
    assert not [one for channel in (log, thread) for one in discord.messages(channel) if discord.is_own(one)]


async def test_a_file_goes_along(discord: LoopbackDiscord) -> None:
    guild = discord.guild("Garden")
    general = guild.channel("general")
    async with bridge_in(discord) as bridge:
        message = to(guild, general, "look", file=ReplyFile("answer.py", b"print(1)\n", "text/plain"))
        sent = await bridge.send(message)
        assert await bridge.find_sent(message) == sent
        assert await bridge.find_sent(to(guild, general, "look", "k2", file=ReplyFile("other.py", b""))) is None
        [posted] = discord.messages(general)
        assert isinstance(sent, Sent)
        await bridge.edit(sent.message_id, to(guild, general, "no code any more"))
    assert discord.now(posted).attachments == ()
    assert [(file.filename, discord.core.world.files[file.path][0]) for file in posted.attachments] == [
        ("answer.py", b"print(1)\n")
    ]


async def test_a_deletion_that_fails_is_heard_when_somebody_else_deletes(discord: LoopbackDiscord) -> None:
    guild, host = discord.guild("Garden"), RecordingHost()
    general = guild.channel("general")
    async with bridge_in(discord, host) as bridge:
        sent = await bridge.send(to(guild, general, "hello"))
        assert isinstance(sent, Sent)
        discord.faults.refuse(50001, method="DELETE")
        with pytest.raises(SendFailed):
            await bridge.withdraw(SentMessage("discord", str(general.id), sent.message_id))
        discord.delete(discord.messages(general)[0])
        assert [event.event_id for event in await host.rest(0.1)] == [f"delete:{sent.message_id}"]


async def test_a_request_that_leaves_open_whom_it_may_ping_is_found(discord: LoopbackDiscord) -> None:
    guild = discord.guild("Garden")
    general = guild.channel("general")
    async with bridge_in(discord) as bridge:
        sent = await bridge.send(to(guild, general, "@everyone"))
        assert isinstance(sent, Sent)
        await bridge.edit(sent.message_id, to(guild, general, "@here"))
    assert list(unasked_mentions(discord)) == []
    asked = discord.calls("POST", MESSAGES)[0].body
    allowed = asked.pop("allowed_mentions")
    assert len(list(unasked_mentions(discord))) == 1
    asked["allowed_mentions"] = allowed
