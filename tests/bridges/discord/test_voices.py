"""People from elsewhere speak in Discord: names, lookups, edits, deletions, and whose words they are."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from agent.bridge import OutcomeUnknown, SendFailed
from agent.events import Author, MessageCreated, MessageDeleted
from agent.files import ReplyFile
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.places import ChannelRef, ServerRef, Visibility
from agent.relaying.mouthpiece import Guise, Voiced, Words
from agent.testing.recording_host import RecordingHost
from tests.bridges.discord.sending import EXECUTE, bridge_in, said, to, unasked_mentions
from tests.servers.discord.guilds import Guild
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.records import Channel

CYN = Author(ParticipantKind.MATRIX_USER, "@cyn:home.test", "Cyn", platform="matrix")


def words(guild: Guild, channel: Channel, text: str, name: str = "Cyn", **more: object) -> Words:
    where = ChannelRef(str(channel.id), channel.name, Visibility.EVERYONE)
    made = Words(ServerRef("discord", str(guild.id), guild.name), where, Guise(name), text)
    return replace(made, **more)  # type: ignore[arg-type]  # a test names fields of Words


async def test_somebody_from_elsewhere_speaks_changes_and_retracts(discord: LoopbackDiscord) -> None:
    guild, host = discord.guild("Garden"), RecordingHost()
    general = guild.channel("general")
    async with bridge_in(discord, host) as bridge:
        voices = bridge.mouthpiece
        assert voices is not None
        first = await voices.speak(words(guild, general, "hello @everyone"))
        assert isinstance(first, Voiced)
        assert first.webhook_id == str(*discord.core.world.webhooks)
        await voices.change(first.message_id, words(guild, general, "hello all"))
        assert said(discord, general) == [("Cyn", "hello all")]
        await voices.retract(to(guild, general, "").channel, first.message_id)
        await voices.retract(to(guild, general, "").channel, first.message_id)  # it is gone already
        with pytest.raises(SendFailed):
            await voices.change(first.message_id, words(guild, general, "again"))
        assert said(discord, general) == []
        assert await host.rest(0.1) == []  # neither its words nor their end come back
    assert not list(unasked_mentions(discord))


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Clyde of discord", "C\u200alyde of d\u200aiscord"),
        ("", "Persona"),
        ("x" * 200, "x" * 79 + "…"),
        ("[Matrix|@victim:hs] x", "[Matrix|@victim:hs] x"),
        ("a\u202eb\nc", "ab c"),
    ],
)
async def test_any_name_is_made_one_that_discord_takes(discord: LoopbackDiscord, name: str, shown: str) -> None:
    guild = discord.guild("Garden")
    general = guild.channel("general")
    async with bridge_in(discord) as bridge:
        assert bridge.mouthpiece is not None
        await bridge.mouthpiece.speak(words(guild, general, "hi", name))
    assert said(discord, general) == [(shown, "hi")]


async def test_only_those_who_are_meant_are_pinged(discord: LoopbackDiscord) -> None:
    guild = discord.guild("Garden")
    mara, otto, general = guild.member("mara"), guild.member("otto"), guild.channel("general")
    key = ParticipantKey(ParticipantKind.DISCORD_USER, str(mara.id))
    async with bridge_in(discord) as bridge:
        assert bridge.mouthpiece is not None
        await bridge.mouthpiece.speak(words(guild, general, f"<@{mara.id}> <@{otto.id}>", mentions=(key,)))
    [request] = [each for each in discord.core.requests if each.template == EXECUTE]
    assert isinstance(request.body, dict)
    assert request.body["allowed_mentions"] == {
        "parse": [],
        "users": [str(mara.id)],
        "roles": [],
        "replied_user": False,
    }


async def test_what_was_said_is_found_again_once(discord: LoopbackDiscord) -> None:
    guild = discord.guild("Garden")
    general, since = guild.channel("general"), datetime.now(UTC) - timedelta(seconds=5)
    async with bridge_in(discord) as bridge:
        voices = bridge.mouthpiece
        assert voices is not None
        first = await voices.speak(words(guild, general, "twice", answers="42", quote="a *b*"))
        assert isinstance(first, Voiced)
        meant = words(guild, general, "twice", answers="42", quote="a *b*")
        assert await voices.find_words(meant, since, {first.message_id}) is None
        discord.faults.lose(method="POST", path=EXECUTE)
        assert isinstance(await voices.speak(meant), OutcomeUnknown)
        second = await voices.find_words(meant, since, {first.message_id})
        assert second is not None
        assert second.message_id != first.message_id
        assert await voices.find_words(words(guild, general, "never said"), since, ()) is None
    assert said(discord, general)[0][1] == (
        f"-# ↪ https://discord.com/channels/{guild.id}/{general.id}/42 a \\*b\\*\ntwice"
    )


async def test_whose_words_a_webhook_said_comes_from_the_rows(discord: LoopbackDiscord) -> None:
    guild, host = discord.guild("Garden"), RecordingHost()
    mara, general = guild.member("mara"), guild.channel("general")
    async with bridge_in(discord, host) as bridge:
        voices = bridge.mouthpiece
        assert voices is not None
        voiced = await voices.speak(words(guild, general, "I like tea", "Isthmus", answers="42"))
        assert isinstance(voiced, Voiced)
        host.others[voiced.message_id] = CYN
        [message] = discord.messages(general)
        discord.say(mara, general, "so do I", reply_to=message)
        heard = await host.next(MessageCreated)
        assert heard.reply is not None
        assert (heard.reply.to_agent, heard.reply.author, heard.reply.text) == (False, CYN, "I like tea")
        first, second = await bridge.history(heard.server, heard.channel, 10)
        assert (first.from_agent, first.author, first.text, first.reply_to) == (False, CYN, "I like tea", "42")
        assert second.author.display_name == "mara"


async def test_people_of_another_bridge_are_known_by_webhook_and_name(discord: LoopbackDiscord) -> None:
    guild, host = discord.guild("Garden"), RecordingHost()
    general = guild.channel("general")
    hook = discord.webhook(general, "_matrix")
    other = discord.webhook(general, "_matrix")
    host.trusted.add(str(hook.id))
    async with bridge_in(discord, host):
        heard = []
        for webhook, name in ((hook, "Cyn"), (hook, "Dan"), (hook, "Cyn"), (other, "Cyn")):
            discord.post(webhook, "hi", username=name)
            heard.append(await host.next(MessageCreated))
    cyn, dan, again, untrusted = [each.author for each in heard]
    assert cyn.key == again.key != dan.key
    assert cyn.kind is ParticipantKind.WEBHOOK
    assert not cyn.key.kind.owns_memories
    assert [each.is_bot for each in (cyn, dan, untrusted)] == [False, False, True]
    assert [each.webhook_id for each in heard] == [None, None, None, str(other.id)]


async def test_names_of_what_a_text_holds(discord: LoopbackDiscord) -> None:
    guild = discord.guild("Garden")
    mara, general, role = guild.member("mara", nick="Mimi"), guild.channel("general"), guild.role("team")
    async with bridge_in(discord) as bridge:
        voices = bridge.mouthpiece
        assert voices is not None
        server = words(guild, general, "").server
        text = f"<@{mara.id}> <@!{mara.id}> <@&{role.id}> <#{general.id}> <:cat:123> <@1>"
        assert voices.names(server, text) == {
            f"<@{mara.id}>": "@Mimi",
            f"<@!{mara.id}>": "@Mimi",
            f"<@&{role.id}>": "@team",
            f"<#{general.id}>": "#general",
            "<:cat:123>": ":cat:",
        }
        found = await voices.where(str(general.id))
        assert found is not None
        assert found[1].external_id == str(general.id)
        assert await voices.where("1") is None
        assert await voices.where("!room:home.test") is None


async def test_files_go_along_and_one_reaction_stands_for_all(discord: LoopbackDiscord) -> None:
    guild = discord.guild("Garden")
    general = guild.channel("general")
    async with bridge_in(discord) as bridge:
        voices = bridge.mouthpiece
        assert voices is not None
        file = ReplyFile("cat.png", b"png", "image/png")
        voiced = await voices.speak(words(guild, general, "", file=file))
        assert isinstance(voiced, Voiced)
        channel = words(guild, general, "").channel
        await voices.react(channel, voiced.message_id, "👍", on=True)
        await voices.react(channel, voiced.message_id, "👍", on=False)
        with pytest.raises(SendFailed):
            await voices.react(channel, "1", "👍", on=True)
    [message] = discord.messages(general)
    assert [each.filename for each in message.attachments] == ["cat.png"]


async def test_a_retracted_message_of_a_person_is_not_heard_again(discord: LoopbackDiscord) -> None:
    guild, host = discord.guild("Garden"), RecordingHost()
    mara, general = guild.member("mara"), guild.channel("general")
    async with bridge_in(discord, host) as bridge:
        assert bridge.mouthpiece is not None
        message = discord.say(mara, general, "oops")
        await host.next(MessageCreated)
        await bridge.mouthpiece.retract(words(guild, general, "").channel, str(message.id))
        assert not [each for each in await host.rest(0.2) if isinstance(each, MessageDeleted)]
    assert said(discord, general) == []
