"""Personas: one webhook a channel, names and pictures, threads and forums, what goes wrong."""

from __future__ import annotations

import asyncio
import json
import logging

import pytest

from agent.bridge import OutcomeUnknown, OutgoingMessage, SendFailed, Sent, SentMessage
from agent.events import MessageCreated
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.redaction import redact
from agent.testing.recording_host import RecordingHost
from bridges.discord.webhooks import Hook
from tests.bridges.discord.sending import EXECUTE, MESSAGES, WEBHOOKS, bridge_in, directly, said, to
from tests.servers.discord.guilds import BOT, Guild
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.permissions import Permission
from tests.servers.discord.records import Channel

PICTURE = "https://example.org/iris.png"


def iris(guild: Guild, channel: Channel, text: str, key: str = "key-1", reply_to: str | None = None) -> OutgoingMessage:
    return to(guild, channel, text, key, persona_name="Iris", persona_avatar=PICTURE, persona_id=7, reply_to=reply_to)


async def test_personas_share_one_webhook_of_the_channel(discord: LoopbackDiscord) -> None:
    guild, host = discord.guild("Garden"), RecordingHost()
    general = guild.channel("general")
    async with bridge_in(discord, host) as bridge:
        await asyncio.gather(
            bridge.send(iris(guild, general, "hello")),
            bridge.send(to(guild, general, "and me", "key-2", persona_name="Otto", persona_avatar="file:///x.png")),
        )
        assert await host.rest(0.1) == []  # its own words do not come back
        assert ParticipantKey(ParticipantKind.WEBHOOK, str(*discord.core.world.webhooks)) in bridge.agent_keys()
    assert sorted(said(discord, general)) == [("Iris", "hello"), ("Otto", "and me")]
    assert {message.author.name: message.author.avatar for message in discord.messages(general)} == {
        "Iris": PICTURE,
        "Otto": None,
    }
    assert len(discord.core.world.webhooks) == 1
    [kept] = list(host.state("discord").secrets)
    assert kept == f"webhook:{general.id}"


async def test_its_own_words_are_known_before_discord_has_answered(discord: LoopbackDiscord) -> None:
    guild, host = discord.guild("Garden"), RecordingHost()
    general = guild.channel("general")
    async with bridge_in(discord, host) as bridge:
        discord.faults.lose(method="POST", path=EXECUTE)
        assert isinstance(await bridge.send(iris(guild, general, "hello")), OutcomeUnknown)
        assert await host.rest(0.1) == []


async def test_the_webhook_is_used_again_after_a_restart(discord: LoopbackDiscord) -> None:
    guild, host = discord.guild("Garden"), RecordingHost()
    general = guild.channel("general")
    for number in range(2):
        async with bridge_in(discord, host) as bridge:
            await bridge.send(iris(guild, general, f"hello {number}", f"key-{number}"))
    async with bridge_in(discord, RecordingHost()) as bridge:  # what it kept is lost: it is found, not made again
        await bridge.send(iris(guild, general, "hello 2", "key-2"))
    assert len(discord.core.world.webhooks) == 1
    assert len(discord.calls("POST", WEBHOOKS)) == 1
    assert [text for _, text in said(discord, general)] == ["hello 0", "hello 1", "hello 2"]


async def test_a_webhook_that_was_deleted_is_made_anew(discord: LoopbackDiscord) -> None:
    guild, host = discord.guild("Garden"), RecordingHost()
    general = guild.channel("general")
    async with bridge_in(discord, host) as bridge:
        await bridge.send(iris(guild, general, "before"))
        discord.core.world.webhooks.clear()
        await bridge.send(iris(guild, general, "after", "key-2"))
    assert said(discord, general) == [("Iris", "before"), ("Iris", "after")]
    async with bridge_in(discord, host) as bridge:
        history = await bridge.history(iris(guild, general, "").server, iris(guild, general, "").channel, 10)
    assert [message.from_agent for message in history] == [True, True]


async def test_a_lost_answer_is_found_and_not_posted_again(discord: LoopbackDiscord) -> None:
    guild = discord.guild("Garden")
    mara, general = guild.member("mara"), guild.channel("general")
    asked = discord.say(mara, general, "who is there?")
    message = iris(guild, general, "me", reply_to=str(asked.id))
    async with bridge_in(discord) as bridge:
        assert not bridge.capabilities.has_key(message)
        discord.faults.lose(method="POST", path=EXECUTE)
        assert isinstance(await bridge.send(message), OutcomeUnknown)
        found = await bridge.find_sent(message)
        assert found == Sent(str(discord.messages(general)[-1].id))
        discord.faults.fail(502, method="POST", path=EXECUTE)
        never = iris(guild, general, "never", "key-2")
        assert isinstance(await bridge.send(never), OutcomeUnknown)
        assert await bridge.find_sent(never) is None
    assert len(discord.calls("POST", EXECUTE)) == 2


async def test_a_limit_is_no_unknown_outcome(discord: LoopbackDiscord) -> None:
    guild = discord.guild("Garden")
    general = guild.channel("general")
    async with bridge_in(discord) as bridge:
        await bridge.send(iris(guild, general, "first"))
        discord.faults.rate_limit(retry_after=0.3, method="POST", path=EXECUTE)
        with pytest.raises(SendFailed) as refusal:
            await bridge.send(iris(guild, general, "second", "key-2"))
        assert refusal.value.retry_after == pytest.approx(0.3)
        assert isinstance(await bridge.send(iris(guild, general, "second", "key-2")), Sent)
    assert [text for _, text in said(discord, general)] == ["first", "second"]


async def test_in_threads_and_forum_posts_the_parents_webhook_speaks(discord: LoopbackDiscord) -> None:
    guild, host = discord.guild("Garden"), RecordingHost()
    mara, general, forum = guild.member("mara"), guild.channel("general"), guild.forum("questions")
    thread = guild.thread(general, "plans", mara)
    post, _ = guild.post(forum, "How?", mara, "how is it done")
    async with bridge_in(discord, host) as bridge:
        for number, channel in enumerate((general, thread, post)):
            sent = await bridge.send(iris(guild, channel, "hello", f"key-{number}"))
            assert isinstance(sent, Sent)
            await bridge.edit(sent.message_id, iris(guild, channel, "better"))
            assert said(discord, channel)[-1] == ("Iris", "better")
            discord.faults.refuse(50013, method="DELETE", path="/channels/{channel_id}/messages/{message_id}")
            await bridge.withdraw(SentMessage("discord", str(channel.id), sent.message_id))
            assert ("Iris", "better") not in said(discord, channel)
        heard = await host.rest(0.1)
    assert [event.text for event in heard if isinstance(event, MessageCreated)] in ([], ["how is it done"])
    assert all(isinstance(event, MessageCreated) for event in heard)
    assert len(discord.core.world.webhooks) == 2


async def test_without_the_permission_it_speaks_as_itself_and_says_so_once(discord: LoopbackDiscord) -> None:
    guild, host = discord.guild("Garden", permissions=BOT & ~Permission.MANAGE_WEBHOOKS), RecordingHost()
    mara, general, second = guild.member("mara"), guild.channel("general"), guild.channel("second")
    asked = discord.say(mara, general, "hello?")
    name, front = "I*r*is", "**I\\*r\\*is**\u200a\n"
    async with bridge_in(discord, host) as bridge:
        for number, channel in enumerate((general, general, second)):
            message = to(guild, channel, "hello", f"key-{number}", persona_name=name, reply_to=str(asked.id))
            sent = await bridge.send(message)
            assert isinstance(sent, Sent)
            assert await bridge.find_sent(message) is not None
        told = await discord.answer(discord.dm(guild.owner))
        place = to(guild, second, "")
        history = await bridge.history(place.server, place.channel, 10)
        assert [(each.text, each.from_agent) for each in history] == [("hello", True)]
        last = str(discord.messages(second)[0].id)
        await bridge.edit(last, to(guild, second, "better", persona_name=name))
    async with bridge_in(discord, host) as bridge:
        await bridge.send(to(guild, second, "again", "key-9", persona_name=name))
    assert "Manage Webhooks" in told.content
    assert len(discord.messages(discord.dm(guild.owner))) == 1
    assert discord.messages(general)[1].reply_to == asked.id
    assert [text for _, text in said(discord, second)] == [f"{front}better", f"{front}again"]
    assert len(discord.calls("GET", WEBHOOKS)) == 3  # once a channel and start


async def test_a_name_that_is_refused_all_the_same_is_replaced(discord: LoopbackDiscord) -> None:
    guild = discord.guild("Garden")
    general = guild.channel("general")
    async with bridge_in(discord) as bridge:
        await bridge.send(iris(guild, general, "first"))
        fault = discord.faults.fail(400, method="POST", path=EXECUTE)
        fault.code, fault.message = 50035, "Invalid Form Body\nIn username: Username cannot be that"
        assert isinstance(await bridge.send(iris(guild, general, "second", "key-2")), Sent)
    assert said(discord, general) == [("Iris", "first"), ("Persona", "second")]


async def test_what_is_answered_is_linked_and_pings_nobody(discord: LoopbackDiscord) -> None:
    guild = discord.guild("Garden")
    mara, general = guild.member("mara"), guild.channel("general")
    asked = discord.say(mara, general, "hello?")
    key = ParticipantKey(ParticipantKind.DISCORD_USER, str(mara.id))
    async with bridge_in(discord) as bridge:
        message = iris(guild, general, "hello", reply_to=str(asked.id))
        await bridge.send(message)
        room = bridge.capabilities.message_limit - bridge.capabilities.persona_room
        await bridge.send(iris(guild, general, "a" * room, "key-2", reply_to=str(asked.id)))
        history = await bridge.history(message.server, message.channel, 2)
    answers = discord.messages(general)[1:]
    link = f"-# ↪ https://discord.com/channels/{guild.id}/{general.id}/{asked.id}\n"
    assert [answer.content for answer in answers] == [f"{link}hello", link + "a" * room]
    assert [answer.mentions for answer in answers] == [(), ()]
    assert [(said.text, said.reply_to) for said in history] == [("hello", str(asked.id)), ("a" * room, str(asked.id))]
    assert key.id not in json.dumps([call.body["allowed_mentions"] for call in discord.calls("POST", EXECUTE)])


async def test_in_a_direct_conversation_it_speaks_as_itself(discord: LoopbackDiscord) -> None:
    mara = discord.guild("Garden").member("mara")
    message = directly(discord.dm(mara), "hello", persona_name="Iris")
    async with bridge_in(discord) as bridge:
        assert bridge.capabilities.has_key(message)
        discord.faults.lose(method="POST", path=MESSAGES)
        assert isinstance(await bridge.send(message), OutcomeUnknown)
        assert isinstance(await bridge.send(message), Sent)
    assert said(discord, discord.dm(mara)) == [(discord.bot.name, "**Iris**\u200a\nhello")]


async def test_no_token_is_ever_written(discord: LoopbackDiscord, caplog: pytest.LogCaptureFixture) -> None:
    guild = discord.guild("Garden")
    general = guild.channel("general")
    caplog.set_level(logging.DEBUG)
    reasons = []
    async with bridge_in(discord) as bridge:
        await bridge.send(iris(guild, general, "first"))
        [hook] = discord.core.world.webhooks.values()
        discord.faults.rate_limit(method="POST", path=EXECUTE)
        discord.faults.refuse(50001, method="POST", path=EXECUTE)
        for number in range(3):
            try:
                await bridge.send(iris(guild, general, "more", f"more-{number}"))
            except SendFailed as failure:
                reasons.append(f"{failure!r} {failure.__cause__!r}")
    assert len(reasons) == 2
    assert hook.token not in redact("\n".join([*caplog.messages, *reasons]))
    assert hook.token not in repr(Hook(str(hook.id), hook.token))
