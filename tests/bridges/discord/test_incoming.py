"""What happens on Discord as the core hears of it, through the real client."""

from itertools import permutations
from typing import Any

import pytest

from agent.events import MessageCreated, MessageDeleted, MessageEdited, ReactionAdded
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.places import ServerKind, Visibility
from agent.store.errors import DatabaseUnavailable
from agent.testing.recording_host import RecordingHost
from bridges.discord import incoming
from tests.bridges.discord.worlds import heard
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.permissions import Permission

QUIET = 0.15
"""Seconds in which nothing may come."""


def person(user_id: int) -> ParticipantKey:
    return ParticipantKey(ParticipantKind.DISCORD_USER, str(user_id))


async def test_a_message_its_edit_and_its_deletion(discord: LoopbackDiscord) -> None:
    guild = discord.guild("Garden")
    mara, general = guild.member("mara", nick="Mara M."), guild.channel("general")
    async with heard(discord) as host:
        said = discord.say(mara, general, "hello")
        created = await host.next(MessageCreated)
        assert (created.event_id, created.message_id, created.text) == (str(said.id), str(said.id), "hello")
        assert (created.server.external_id, created.server.name) == (str(guild.id), "Garden")
        assert (created.channel.external_id, created.channel.name) == (str(general.id), "general")
        assert created.channel.visibility is Visibility.EVERYONE
        assert (created.author.key, created.author.display_name) == (person(mara.id), "Mara M.")
        assert (created.author.username, created.author.is_bot, created.author.can_manage) == ("mara", False, False)
        assert (created.mentions_agent, created.mentions, created.reply) == (False, (), None)
        discord.edit(said, "hello there")
        edited = await host.next(MessageEdited)
        assert (edited.message_id, edited.text) == (str(said.id), "hello there")
        assert (edited.mentions_agent, edited.said_at) == (False, created.occurred_at)
        discord.edit(said, f"hello there {discord.bot.mention}")
        assert (await host.next(MessageEdited)).mentions_agent
        discord.delete(said)
        deleted = await host.next(MessageDeleted)
        assert (deleted.message_id, deleted.channel, deleted.server) == (str(said.id), created.channel, created.server)


async def test_channels_and_emojis_are_told_by_name_and_hidden_channels_never(discord: LoopbackDiscord) -> None:
    guild = discord.guild("Garden")
    mara, general = guild.member("mara"), guild.channel("general")
    hidden = guild.channel("surprise", rules={guild.everyone: (Permission(0), Permission.VIEW_CHANNEL)})
    plans = guild.thread(general, "plans", mara)
    text = f"<#{general.id}> <#{plans.id}> <#{hidden.id}> <#123456789012345678> <:tea:123456789012345678> <@{mara.id}>"
    told = f"#general #plans <#{hidden.id}> <#123456789012345678> :tea: <@{mara.id}>"
    async with heard(discord) as host:
        said = discord.say(mara, general, text)
        assert (await host.next(MessageCreated)).text == told
        discord.edit(said, f"look: {text}")
        assert (await host.next(MessageEdited)).text == f"look: {told}"
        discord.say(mara, general, "this", reply_to=said)
        reply = (await host.next(MessageCreated)).reply
        assert reply is not None
        assert reply.text == f"look: {told}"


async def test_messages_deleted_at_once_are_told_one_by_one(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    async with heard(discord) as host:
        said = [discord.say(mara, general, text) for text in ("a", "b", "c")]
        discord.bulk_delete(general, said[:2])
        assert [(await host.next(MessageCreated)).text for _ in said] == ["a", "b", "c"]
        assert [(await host.next(MessageDeleted)).message_id for _ in range(2)] == [str(each.id) for each in said[:2]]


async def test_reactions_of_people_and_not_the_agents_own(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara", nick="Mara"), guild.channel("general")
    async with heard(discord) as host:
        said = discord.say(mara, general, "hello")
        await host.next(MessageCreated)
        discord.react(discord.bot, said, "👍")
        discord.react(mara, said, "🌱")
        reaction = await host.next(ReactionAdded)
        assert (reaction.emoji, reaction.message_id, reaction.author.display_name) == ("🌱", str(said.id), "Mara")
        assert reaction.author.key == person(mara.id)


async def test_a_reaction_in_a_direct_message_bears_the_name_that_is_known(discord: LoopbackDiscord) -> None:
    discord.guild()
    mara = discord.user("mara", global_name="Mara")
    async with heard(discord) as host:
        said = discord.say(mara, discord.dm(mara), "hello")
        await host.next(MessageCreated)
        discord.react(mara, said, "🌱")
        reaction = await host.next(ReactionAdded)
        assert (reaction.author.display_name, reaction.server.name) == ("Mara", "Mara")


async def test_threads_and_posts_hang_below_their_channel(discord: LoopbackDiscord) -> None:
    guild = discord.guild(permissions=Permission.ADMINISTRATOR)
    mara, general, ideas = guild.member("mara"), guild.channel("general"), guild.forum("ideas")
    async with heard(discord) as host:
        plans = guild.thread(general, "plans", mara)
        discord.say(mara, plans, "in a thread")
        created = await host.next(MessageCreated)
        assert (created.channel.name, created.channel.parent_name) == ("plans", "general")
        assert created.channel.parent_external_id == str(general.id)
        guild.post(ideas, "More tea", mara, "in a post")
        created = await host.next(MessageCreated)
        assert (created.text, created.channel.name, created.channel.parent_name) == ("in a post", "More tea", "ideas")
        secret = guild.thread(general, "secret", mara, private=True)
        discord.say(mara, secret, "in a private thread")
        created = await host.next(MessageCreated)
        assert (created.channel.name, created.channel.visibility) == ("secret", Visibility.RESTRICTED)
        begun = guild.thread(discord.say(mara, general, "about tea"), "tea", mara)
        discord.say(mara, begun, "in a thread from a message")
        said = [await host.next(MessageCreated) for _ in range(2)]
        assert [(each.text, each.channel.name) for each in said] == [
            ("about tea", "general"),
            ("in a thread from a message", "tea"),
        ] or [each.channel.name for each in said] == ["tea", "general"]


async def test_direct_messages_are_a_server_of_their_own_whose_person_manages_it(discord: LoopbackDiscord) -> None:
    discord.guild()
    mara = discord.user("mara", global_name="Mara")
    channel = discord.dm(mara)
    async with heard(discord) as host:
        said = discord.say(mara, channel, "hello")
        created = await host.next(MessageCreated)
        assert (created.server.external_id, created.server.kind) == (f"direct:{channel.id}", ServerKind.DIRECT)
        assert (created.server.name, created.channel.visibility) == ("Mara", Visibility.DIRECT)
        assert created.author.can_manage
        discord.edit(said, "hello you")
        assert (await host.next(MessageEdited)).server == created.server
        discord.delete(said)
        assert (await host.next(MessageDeleted)).server == created.server


async def test_who_manages_is_told_by_roles_and_ownership(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    general, role = guild.channel("general"), guild.role("Keepers", Permission.MANAGE_GUILD)
    ben, mara = guild.member("ben", roles=[role]), guild.member("mara")
    async with heard(discord) as host:
        for user, manages in ((mara, False), (ben, True), (guild.owner, True)):
            discord.say(user, general, "hello")
            assert (await host.next(MessageCreated)).author.can_manage is manages
        guild.allow(role, Permission.SEND_MESSAGES)
        discord.say(ben, general, "hello")
        assert not (await host.next(MessageCreated)).author.can_manage


async def test_mentions_are_told_by_id(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, ben, general = guild.member("mara"), guild.member("ben"), guild.channel("general")
    [own_role] = [role for role in discord.core.world.roles.values() if role.managed]
    async with heard(discord) as host:
        for text, mentions_agent, mentions in (
            (f"{discord.bot.mention} and {ben.mention}", True, (person(ben.id),)),
            (f"<@!{discord.bot.id}>", True, ()),
            (f"<@&{own_role.id}>", True, ()),
            ("@everyone @here", False, ()),
            (f"<@&{guild.id}>", False, ()),
            (f"`{discord.bot.name}` agent @agent", False, ()),
        ):
            discord.say(mara, general, text)
            created = await host.next(MessageCreated)
            assert (created.mentions_agent, created.mentions) == (mentions_agent, mentions), text


async def test_replies_to_the_agent_to_its_personas_and_to_people(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, ben, general = guild.member("mara"), guild.member("ben"), guild.channel("general")
    async with heard(discord) as host:
        own = discord.post(discord.webhook(general, "Rose", application_id=discord.application_id), "I am Rose.")
        spoken = discord.say(discord.bot, general, "I am here.")
        question = discord.say(ben, general, "Where is the kettle?")
        gone = discord.say(ben, general, "never mind")
        await host.next(MessageCreated)
        await host.next(MessageCreated)
        host.sent[str(gone.id)] = 7
        for answered, to_agent, quoted in ((own, True, "I am Rose."), (spoken, True, "I am here.")):
            discord.say(mara, general, "really?", reply_to=answered, ping=False)
            reply = (await host.next(MessageCreated)).reply
            assert reply is not None
            assert (reply.message_id, reply.to_agent, reply.text) == (str(answered.id), to_agent, quoted)
        discord.say(mara, general, "in the kitchen", reply_to=question)
        created = await host.next(MessageCreated)
        assert created.reply is not None
        assert created.reply.author is not None
        assert (created.reply.to_agent, created.reply.text) == (False, "Where is the kettle?")
        assert (created.reply.author.key, created.mentions) == (person(ben.id), (person(ben.id),))
        with discord.hold("MESSAGE_CREATE") as held:
            discord.say(mara, general, "what was it?", reply_to=gone)
            held.events[0].data["referenced_message"] = None  # as Discord tells it of one that is gone
        reply = (await host.next(MessageCreated)).reply
        assert reply is not None
        assert (reply.to_agent, reply.persona_id, reply.author, reply.text) == (True, 7, None, "")


async def test_a_forwarded_message_is_no_reply(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    async with heard(discord) as host:
        old = discord.say(mara, general, "old news")
        await host.next(MessageCreated)
        discord.say(mara, general, forward=old)
        created = await host.next(MessageCreated)
        assert (created.reply, created.extras) == (None, ("forwarded: old news",))


async def test_what_the_agent_itself_did_is_dropped(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    ours = discord.webhook(general, "Rose", application_id=discord.application_id)
    async with heard(discord) as host:
        spoken = discord.say(discord.bot, general, "I am here.")
        discord.edit(spoken, "I am still here.")
        posted = discord.post(ours, "I am Rose.")
        discord.edit(posted, "I am Rose indeed.")
        discord.say(mara, general, kind=7)
        discord.say(mara, general, "hello")
        assert (await host.next(MessageCreated)).text == "hello"
        assert await host.rest(QUIET) == []


async def test_a_preview_is_no_edit(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    preview = {"type": "link", "title": "Tea", "url": "https://tea.example"}
    async with heard(discord) as host:
        said = discord.say(mara, general, "https://tea.example")
        discord.preview(said, preview)
        await host.next(MessageCreated)
        discord.edit(said, "look: https://tea.example")
        await host.next(MessageEdited)
        discord.preview(said, preview)
        assert await host.rest(QUIET) == []
        with discord.hold("MESSAGE_CREATE"):
            other = discord.say(mara, general, "a")
            discord.edit(other, "b")
        assert (await host.next(MessageEdited)).text == "b"
        assert (await host.next(MessageCreated)).text == "b"
        discord.preview(other, preview)
        assert await host.rest(QUIET) == []


async def test_bots_and_webhooks_are_told_as_such_unless_they_are_allowed(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    general = guild.channel("general")
    robot, friend = guild.member(discord.user("robot", bot=True)), guild.member(discord.user("friend", bot=True))
    news, proxy = discord.webhook(general, "News"), discord.webhook(general, "Proxy")
    async with heard(discord, allowed_bots=(str(friend.id), str(news.id))) as host:
        discord.say(robot, general, "beep")
        discord.say(friend, general, "hello")
        discord.post(proxy, "I am Lyra", username="Lyra")
        discord.post(news, "It rains", username="News at noon")
        said = [await host.next(MessageCreated) for _ in range(4)]
        assert [each.author.is_bot for each in said] == [True, False, True, False]
        assert [each.webhook_id for each in said] == [None, None, str(proxy.id), None]
        assert [each.author.kind for each in said[2:]] == [ParticipantKind.WEBHOOK] * 2
        assert [each.author.display_name for each in said[2:]] == ["Lyra", "News at noon"]
        assert not any(each.author.can_manage for each in said)


async def test_without_message_content_what_speaks_to_the_agent_is_read(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    async with heard(discord, message_content=False) as host:
        discord.say(mara, general, "nothing for you")
        discord.say(mara, general, f"{discord.bot.mention} hello")
        discord.say(mara, discord.dm(mara), "and here")
        texts = {(await host.next(MessageCreated)).text for _ in range(3)}
        assert texts == {"", f"{discord.bot.mention} hello", "and here"}


async def test_an_archived_thread_is_asked_for_once(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    plans = guild.thread(general, "plans", mara)
    said = [discord.say(mara, plans, text) for text in ("a", "b")]
    discord.archive(plans)
    async with heard(discord) as host:
        await host.rest(0)
        for each in said:
            discord.delete(each)
            deleted = await host.next(MessageDeleted)
            assert (deleted.channel.name, deleted.channel.parent_name) == ("plans", "general")
        assert len(discord.calls("GET", "/channels/{channel_id}")) == 1
        discord.rename_channel(plans, "old plans")
        discord.say(mara, plans, "c")
        assert (await host.next(MessageCreated)).channel.name == "old plans"


async def test_a_channel_that_is_told_of_too_late_is_asked_for(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara = guild.member("mara")
    async with heard(discord) as host:
        with discord.hold("CHANNEL_CREATE"):
            late = guild.channel("late")
            discord.say(mara, late, "first")
            created = await host.next(MessageCreated)
        assert (created.channel.name, created.channel.visibility) == ("late", Visibility.EVERYONE)


async def test_what_the_core_cannot_take_is_brought_again_in_order(
    discord: LoopbackDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(incoming, "_PAUSE", 0.01)
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    async with heard(discord) as host:
        host.fail_next(*[DatabaseUnavailable("away")] * 3)
        for text in ("a", "b"):
            discord.say(mara, general, text)
        assert [(await host.next(MessageCreated)).text for _ in range(2)] == ["a", "b"]


STEPS = ("MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE")


def left_of(host: RecordingHost) -> str | None:
    """What a core knows at the end that takes each event once."""
    text: str | None = None
    taken: set[str] = set()
    for event in host.events:
        if event.event_id in taken:
            continue
        taken.add(event.event_id)
        if isinstance(event, MessageCreated):
            text = event.text
        elif isinstance(event, MessageEdited):
            text = event.text if text is not None else None
        elif isinstance(event, MessageDeleted):
            text = None
    return text


@pytest.mark.parametrize("doubled", [False, True], ids=["once", "twice"])
@pytest.mark.parametrize("deleted", [False, True], ids=["stays", "deleted"])
async def test_every_order_of_a_messages_events_ends_alike(
    discord: LoopbackDiscord, deleted: bool, doubled: bool
) -> None:
    guild = discord.guild()
    mara = guild.member("mara")
    count = 2 + deleted
    orders = [*permutations(range(count))]
    if doubled:
        orders = [(*order, *order) for order in orders] + [(*order, *reversed(order)) for order in orders]
    channels = [guild.channel(f"c{number}") for number in range(len(orders))]
    async with heard(discord) as host:
        for order, channel in zip(orders, channels, strict=True):
            host.events.clear()
            with discord.hold(*STEPS) as held:
                said = discord.say(mara, channel, "first")
                discord.edit(said, "second")
                if deleted:
                    discord.delete(said)
                held.release(order)
            end = discord.say(mara, channel, "end")
            while not any(event.message_id == str(end.id) for event in host.events):
                async with host._came:
                    await host._came.wait()
            host.events[:] = [event for event in host.events if event.message_id == str(said.id)]
            assert left_of(host) == (None if deleted else "second"), order
            assert len({event.event_id for event in host.events if isinstance(event, MessageEdited)}) == 1, order


async def test_what_is_told_again_after_a_resume_bears_the_same_ids(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    async with heard(discord) as host:
        said = discord.say(mara, general, "a")
        discord.edit(said, "b")
        await host.next(MessageCreated)
        await host.next(MessageEdited)
        discord.gateway.replays = 2
        discord.gateway.drop()
        await discord.connected()
        discord.say(mara, general, "c")
        told: list[Any] = []
        while not told or told[-1].message_id == str(said.id):
            told += await host.rest(0.02)
        assert [(type(each), each.event_id) for each in told[:-1]] == [(MessageCreated, str(said.id))]
        assert told[-1].text == "c"
