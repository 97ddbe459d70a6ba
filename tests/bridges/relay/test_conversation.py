"""A room and a channel as one conversation, with a real homeserver and the loopback Discord at once."""

from __future__ import annotations

from typing import Any

import pytest

from agent.events import Author
from agent.identity.keys import ParticipantKind
from agent.places import ServerRef
from agent.testing.scripted_model import ScriptedModel
from bridges.discord.incoming import Incoming
from tests.bridges.relay.worlds import Service, relay_world
from tests.servers.discord.loopback import LoopbackDiscord

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts


async def test_words_go_both_ways(service: Service, discord: LoopbackDiscord, database_url: str) -> None:
    async with relay_world(service, discord, database_url) as world:
        await world.cyn.say(world.room, "hello from the room")
        message = await world.in_channel("hello from the room")
        assert message.author.name == "Cyn"
        assert message.webhook_id is not None
        discord.say(world.mara, world.general, "hello from the channel")
        event = await world.in_room("hello from the channel")
        assert event["sender"] == world.ghost(world.mara)
        assert event["content"]["m.mentions"] == {}
        name = await world.cyn.read_state(world.room, "m.room.member", event["sender"])
        assert name["displayname"] == "mara"
        await world.settled()
        assert world.contents().count("hello from the channel") == 1
        assert (await world.bodies()).count("hello from the room") == 1


async def test_formatting_goes_both_ways(service: Service, discord: LoopbackDiscord, database_url: str) -> None:
    async with relay_world(service, discord, database_url) as world:
        html = {"format": "org.matrix.custom.html", "formatted_body": "<b>bold</b> <script>x</script><i>it</i>"}
        await world.cyn.say(world.room, "**bold** it", **html)
        assert (await world.in_channel("bold")).content == "**bold** *it*"
        await world.cyn.say(world.room, "2 * 3 * 4")
        assert (await world.in_channel("2 ")).content == r"2 \* 3 \* 4"
        await world.cyn.send(world.room, {"msgtype": "m.emote", "body": "waves"})
        assert (await world.in_channel("waves")).content == "*waves*"
        discord.say(world.mara, world.general, f"**bold** __under__ ||secret|| <@{world.mara.id}> <b>x</b>")
        content = (await world.in_room("__under__"))["content"]
        ghost = world.ghost(world.mara)
        assert content["formatted_body"] == (
            "<strong>bold</strong> <u>under</u> <span data-mx-spoiler>secret</span> "
            f'<a href="https://matrix.to/#/{ghost}">@mara</a> &lt;b&gt;x&lt;/b&gt;'
        )
        assert "@mara" in content["body"]


async def test_one_answer_stands_on_both_sides(service: Service, discord: LoopbackDiscord, database_url: str) -> None:
    model = ScriptedModel("Hello Cyn.", "Hello Mara.")
    async with relay_world(service, discord, database_url, model=model) as world:
        asked = await world.cyn.ask(world.room, world.bot, "who are you?")
        answer = await world.in_room("Hello Cyn.")
        assert answer["sender"] == world.bot
        assert answer["content"]["m.relates_to"] == {"m.in_reply_to": {"event_id": asked}}
        assert answer["content"]["m.mentions"] == {"user_ids": [world.cyn.user_id]}
        there = await world.in_channel("Hello Cyn.")
        assert discord.is_own(there)
        discord.say(world.mara, world.general, f"{discord.bot.mention} and I?")
        await world.in_room("Hello Mara.")
        await world.settled()
        assert len(model.requests) == 2
        texts = "\n".join(model.requests[1].texts)
        assert '"from":"Cyn"' in texts.replace('": "', '":"')  # what was said in the room is the channel's history
        assert "who are you?" in texts
        assert (await world.bodies()).count("Hello Mara.") == 1
        assert world.contents().count("Hello Cyn.") == 1


async def test_answers_to_messages_name_them(service: Service, discord: LoopbackDiscord, database_url: str) -> None:
    async with relay_world(service, discord, database_url) as world:
        first = await world.cyn.say(world.room, "shall we eat?")
        message = await world.in_channel("shall we eat?")
        discord.say(world.mara, world.general, "yes please", reply_to=message)
        event = await world.in_room("yes please")
        assert event["content"]["m.relates_to"] == {"m.in_reply_to": {"event_id": first}}
        assert event["content"]["m.mentions"] == {"user_ids": [world.cyn.user_id]}
        relates = {"m.relates_to": {"m.in_reply_to": {"event_id": event["event_id"]}}}
        await world.cyn.say(world.room, f"> <{event['sender']}> yes please\n\nat six then", **relates)
        [yes] = [each for each in discord.messages(world.general) if each.content == "yes please"]
        link = f"https://discord.com/channels/{world.guild.id}/{world.general.id}/{yes.id}"
        assert (await world.in_channel("at six then")).content == f"-# ↪ {link} mara: yes please\nat six then"
        await world.settled()
        assert world.model.requests == []  # an answer to somebody's words is none to the agent


async def test_an_answer_may_be_faster_than_the_note_whose_words_it_answers(
    service: Service, discord: LoopbackDiscord, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whose, asked = Incoming._whose, list[str]()

    async def late(self: Incoming, server: ServerRef, message_id: str) -> Any:
        asked.append(message_id)
        return ({}, {}) if len(asked) == 1 else await whose(self, server, message_id)

    async with relay_world(service, discord, database_url) as world:
        await world.cyn.say(world.room, "shall we eat?")
        message = await world.in_channel("shall we eat?")
        await world.settled()
        monkeypatch.setattr(Incoming, "_whose", late)
        discord.say(world.mara, world.general, "yes please", reply_to=message)
        await world.in_room("yes please")
        await world.settled()
        assert (len(asked), world.model.requests) == (2, [])


async def test_an_answer_to_the_agent_is_for_it(service: Service, discord: LoopbackDiscord, database_url: str) -> None:
    model = ScriptedModel("First.", "Second.")
    async with relay_world(service, discord, database_url, model=model) as world:
        discord.say(world.mara, world.general, f"{discord.bot.mention} hi")
        first = await world.in_room("First.")
        relates = {"m.relates_to": {"m.in_reply_to": {"event_id": first["event_id"]}}}
        await world.cyn.say(world.room, "and now?", **relates)
        await world.in_room("Second.")
        await world.in_channel("Second.")


async def test_edits_and_redactions_go_over(service: Service, discord: LoopbackDiscord, database_url: str) -> None:
    async with relay_world(service, discord, database_url) as world:
        first = await world.cyn.say(world.room, "helo")
        await world.in_channel("helo")
        await world.cyn.edit(world.room, first, "hello")
        await world.in_channel("hello")
        assert "helo" not in world.contents()
        await world.cyn.redact(world.room, first)
        await discord.until(lambda: "hello" not in world.contents(), 10, "no message")
        said = discord.say(world.mara, world.general, "gren")
        event = await world.in_room("gren")
        discord.edit(said, "green")
        edited = await world.in_room("* green")
        assert edited["content"]["m.relates_to"] == {"rel_type": "m.replace", "event_id": event["event_id"]}
        assert edited["sender"] == event["sender"]
        discord.delete(said)
        await world.settled()
        assert "body" not in (await world.cyn.event(world.room, event["event_id"]))["content"]


async def test_a_moderator_deletes_on_the_other_side(
    service: Service, discord: LoopbackDiscord, database_url: str
) -> None:
    async with relay_world(service, discord, database_url) as world:
        power = await world.cyn.read_state(world.room, "m.room.power_levels")
        power["users"][world.bot] = 50
        await world.cyn.state(world.room, "m.room.power_levels", power)
        said = await world.cyn.say(world.room, "rude")
        message = await world.in_channel("rude")
        discord.delete(message)
        await world.settled()
        assert "body" not in (await world.cyn.event(world.room, said))["content"]
        discord.say(world.mara, world.general, "rude as well")
        event = await world.in_room("rude as well")
        await world.cyn.redact(world.room, event["event_id"])  # who made the room manages it
        await discord.until(lambda: "rude as well" not in world.contents(), 10, "no message")


async def test_reactions_go_over(service: Service, discord: LoopbackDiscord, database_url: str) -> None:
    async with relay_world(service, discord, database_url) as world:
        said = await world.cyn.say(world.room, "lunch?")
        message = await world.in_channel("lunch?")
        reaction = await world.cyn.react(world.room, said, "👍")
        await discord.called("PUT", "/channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/@me")
        await world.cyn.redact(world.room, reaction)
        await discord.called("DELETE", "/channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/@me")
        discord.react(world.mara, message, "🎉")
        await world.settled()
        reactions = [each for each in await world.cyn.messages(world.room) if each["type"] == "m.reaction"]
        [event] = [each for each in reactions if each["content"]]
        assert event["sender"] == world.ghost(world.mara)
        assert event["content"]["m.relates_to"] == {"rel_type": "m.annotation", "event_id": said, "key": "🎉"}


async def test_threads_stay_threads(service: Service, discord: LoopbackDiscord, database_url: str) -> None:
    async with relay_world(service, discord, database_url) as world:
        root = discord.say(world.mara, world.general, "plans for spring")
        event = await world.in_room("plans for spring")
        thread = world.guild.thread(root, "spring", world.mara)
        discord.say(world.mara, thread, "tulips")
        inside = await world.in_room("tulips")
        assert inside["content"]["m.relates_to"]["rel_type"] == "m.thread"
        assert inside["content"]["m.relates_to"]["event_id"] == event["event_id"]
        relates = {"rel_type": "m.thread", "event_id": event["event_id"], "is_falling_back": True}
        await world.cyn.say(world.room, "and roses", **{"m.relates_to": relates})
        assert (await world.in_channel("and roses", channel=thread)).content == "and roses"
        lone = await world.cyn.say(world.room, "no thread there")
        relates = {"rel_type": "m.thread", "event_id": lone, "is_falling_back": True}
        await world.cyn.say(world.room, "below it", **{"m.relates_to": relates})
        assert "no thread there" in (await world.in_channel("below it")).content


async def test_files_go_both_ways(service: Service, discord: LoopbackDiscord, database_url: str) -> None:
    async with relay_world(service, discord, database_url, file_limit=1) as world:
        address = await world.cyn.upload(b"small file", "notes.txt", "text/plain")
        info = {"size": 10, "mimetype": "text/plain"}
        await world.cyn.send(world.room, {"msgtype": "m.file", "body": "notes.txt", "url": address, "info": info})
        await discord.until(lambda: any(each.attachments for each in discord.messages(world.general)), 10, "a file")
        await world.cyn.send(world.room, {"msgtype": "m.file", "body": "gone.bin", "url": "mxc://evil/../x"})
        assert "gone.bin" in (await world.in_channel("gone.bin")).content


async def test_of_large_files_the_name_goes_over(service: Service, discord: LoopbackDiscord, database_url: str) -> None:
    async with relay_world(service, discord, database_url, file_limit=0) as world:
        address = await world.cyn.upload(b"not so small", "large.bin", "application/octet-stream")
        await world.cyn.send(world.room, {"msgtype": "m.file", "body": "large.bin", "url": address})
        assert "📎 large.bin: it is larger than 0 bytes" in (await world.in_channel("large.bin")).content


async def test_only_the_agent_goes_over_where_people_are_not_mirrored(
    service: Service, discord: LoopbackDiscord, database_url: str
) -> None:
    async with relay_world(service, discord, database_url, mirror_people=False) as world:
        discord.say(world.mara, world.general, f"{discord.bot.mention} between us")
        await world.in_room("Well.")
        await world.settled()
        assert [each for each in await world.bodies() if "between us" in each] == []
        await world.cyn.say(world.room, "still heard there")
        await world.in_channel("still heard there")


async def test_an_agents_answer_follows_an_edited_question(
    service: Service, discord: LoopbackDiscord, database_url: str
) -> None:
    model = ScriptedModel("About tea.", "About coffee.")
    async with relay_world(service, discord, database_url, model=model) as world:
        asked = await world.cyn.ask(world.room, world.bot, "tell me about tea")
        first = await world.in_room("About tea.")
        await world.settled()
        await world.cyn.edit(world.room, asked, "tell me about coffee")
        edited = await world.in_room("* About coffee.")
        assert edited["content"]["m.relates_to"]["event_id"] == first["event_id"]
        assert "About coffee." in world.contents()


async def test_personas_speak_as_users_of_their_own(
    service: Service, discord: LoopbackDiscord, database_url: str
) -> None:
    model = ScriptedModel("I am Iris.", "Still Iris.", default="Well.")
    async with relay_world(service, discord, database_url, model=model) as world:
        place = await world.relay._started.ties.mouth.where(str(world.general.id))
        assert place is not None
        boss = Author(ParticipantKind.DISCORD_USER, str(world.guild.owner.id), "owner", can_manage=True)
        made = await world.agent.run_command(
            ("persona", "create"), {"name": "Iris", "prompt": "You are {bot}."}, *place, boss
        )
        assert made.ok, made.text
        await world.cyn.say(world.room, "Iris, who are you?")
        answer = await world.in_room("I am Iris.")
        assert world.relay.names.is_agent(answer["sender"])
        assert answer["sender"] != world.bot
        member = await world.cyn.read_state(world.room, "m.room.member", answer["sender"])
        assert member["displayname"] == "Iris"
        assert (await world.in_channel("I am Iris.")).author.name == "Iris"
        relates = {"m.relates_to": {"m.in_reply_to": {"event_id": answer["event_id"]}}}
        await world.cyn.say(world.room, "and now?", **relates)
        assert (await world.in_room("Still Iris."))["sender"] == answer["sender"]
        await world.settled()
        assert (await world.bodies()).count("I am Iris.") == 1
        assert len([each for each in world.contents() if each.endswith("I am Iris.")]) == 1
