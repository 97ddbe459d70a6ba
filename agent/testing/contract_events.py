"""The contracts of what not every platform has: edits, reactions, threads, other bots, direct conversations."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agent.directory_changes import MemberLeft, MembersSeen
from agent.events import MessageCreated, MessageDeleted, MessageEdited, ReactionAdded
from agent.places import ServerKind, Visibility
from agent.testing.contract_steps import QUIET, heard, outgoing, post, started

if TYPE_CHECKING:
    from agent.directory_changes import DirectoryChange
    from agent.identity.keys import ParticipantKey
    from agent.testing.worlds import (
        BotWorld,
        BridgeWorld,
        DirectWorld,
        EditWorld,
        MemberWorld,
        ReactionWorld,
        RepeatingWorld,
        ThreadWorld,
    )


class RepeatedEventContract:
    """For platforms that may bring an event twice."""

    async def test_an_event_that_comes_again_bears_the_same_id(self, world: RepeatingWorld) -> None:
        """So that the core knows it."""
        async with started(world) as host:
            await world.say("once")
            first = await host.next(MessageCreated)
            await world.again()
            again = [event for event in await host.rest(QUIET) if isinstance(event, MessageCreated)]
        assert {event.event_id for event in again} <= {first.event_id}, "the same event came under another id"


class EditContract:
    """For platforms whose messages can be edited and deleted."""

    async def test_an_edit_comes_as_an_event(self, world: EditWorld) -> None:
        """With the message's id and the new text, and not as a new message."""
        async with started(world) as host:
            created = await heard(world, host, "first text")
            message_id = created.message_id
            await world.edit(message_id, "second text")
            edited = await host.next(MessageEdited)
            assert await host.rest(QUIET) == [], "an edit brought more than one event"
        assert (edited.message_id, edited.text) == (message_id, "second text")
        assert edited.channel.external_id == world.channel.external_id
        assert edited.event_id != created.event_id, "the edit bears the id of the message's own event"

    async def test_two_edits_are_two_events(self, world: EditWorld) -> None:
        """Each with an id of its own."""
        async with started(world) as host:
            message_id = (await heard(world, host, "first text")).message_id
            await world.edit(message_id, "second text")
            await world.edit(message_id, "third text")
            edits = [await host.next(MessageEdited), await host.next(MessageEdited)]
        assert [edit.text for edit in edits] == ["second text", "third text"]
        assert edits[0].event_id != edits[1].event_id, "two edits share an id"

    async def test_a_deletion_comes_as_an_event(self, world: EditWorld) -> None:
        """With the message's id; history holds it no more."""
        async with started(world) as host:
            message_id = (await heard(world, host, "soon gone")).message_id
            await world.delete(message_id)
            deleted = await host.next(MessageDeleted)
            history = await world.bridge.history(world.server, world.channel, 10)
        assert deleted.message_id == message_id
        assert message_id not in [message.message_id for message in history], "history still holds it"


class ReactionContract:
    """For platforms with reactions."""

    async def test_a_reaction_comes_as_an_event(self, world: ReactionWorld) -> None:
        """With who reacted, to which message, and how."""
        async with started(world) as host:
            message_id = (await heard(world, host, "react to this")).message_id
            await world.react(message_id, "👍")
            reaction = await host.next(ReactionAdded)
        assert (reaction.message_id, reaction.emoji) == (message_id, "👍")
        assert reaction.author.key == world.person.key


class ThreadContract:
    """For platforms with threads."""

    async def test_a_thread_knows_its_parent(self, world: ThreadWorld) -> None:
        """And is another channel than it."""
        async with started(world) as host:
            await world.say_in_thread("inside")
            event = await host.next(MessageCreated)
            history = await world.bridge.history(event.server, event.channel, 10)
        assert event.channel.parent_external_id == world.channel.external_id, "the thread does not name its parent"
        assert event.channel.parent_name == world.channel.name, "the thread does not name its parent's name"
        assert event.channel.external_id != world.channel.external_id, "the thread passes for its parent"
        assert event.server == world.server
        assert [message.text for message in history] == ["inside"]


class BotContract:
    """For platforms with other bots."""

    async def test_a_bot_is_marked_as_one(self, world: BotWorld) -> None:
        """The agent answers no bot."""
        async with started(world) as host:
            await world.say_as_bot("beep")
            assert (await host.next(MessageCreated)).author.is_bot, "a bot came as a person"


class DirectContract:
    """For platforms where the agent can be addressed: in direct conversations, by mention and by reply."""

    async def test_a_direct_conversation_is_known_as_one(self, world: DirectWorld) -> None:
        """What is said there must not be told elsewhere."""
        async with started(world) as host:
            await world.say_directly("between us")
            event = await host.next(MessageCreated)
        assert event.server.kind is ServerKind.DIRECT, "a direct conversation came as a server"
        assert event.channel.visibility is Visibility.DIRECT, "a direct conversation came as a channel"

    async def test_a_mention_of_the_agent_is_marked(self, world: DirectWorld) -> None:
        """And a message without one is not."""
        async with started(world) as host:
            await world.say("to nobody")
            await world.say_to_agent("to you")
            events = [await host.next(MessageCreated), await host.next(MessageCreated)]
        assert [event.mentions_agent for event in events] == [False, True]

    async def test_a_reply_to_the_agent_is_marked(self, world: DirectWorld) -> None:
        """With the id of the message that it answers."""
        async with started(world) as host:
            message_id = await post(world, outgoing(world, "ask me"))
            await world.reply_to(message_id, "what time is it")
            event = await host.next(MessageCreated)
        assert event.reply is not None, "the reply came without what it answers"
        assert (event.reply.message_id, event.reply.to_agent) == (message_id, True)


class MemberContract:
    """For platforms that tell who is in a server."""

    async def test_members_are_told_at_the_start(self, world: MemberWorld) -> None:
        """So that people are known who have said nothing yet."""
        await world.join(world.person)
        async with started(world) as host:
            change = await host.told(lambda change: world.person.key in _members(world, change))
        assert isinstance(change, MembersSeen)
        (member,) = [member for member in change.members if member.key == world.person.key]
        assert member.display_name == world.person.display_name, "the name that the server shows came changed"
        assert not member.is_bot, "a person came as a bot"

    async def test_joins_and_renames_are_told(self, world: MemberWorld) -> None:
        """As they happen, under the name that the server shows then."""
        renamed = replace(world.person, display_name="Somebody Else")
        async with started(world) as host:
            await world.join(world.person)
            await host.told(lambda change: world.person.key in _members(world, change))
            await world.join(renamed)
            await host.told(lambda change: _members(world, change).get(renamed.key) == renamed.display_name)

    async def test_who_leaves_is_told(self, world: MemberWorld) -> None:
        """And is not among the members at the next start."""
        await world.join(world.person)
        async with started(world) as host:
            await host.told(lambda change: world.person.key in _members(world, change))
            await world.leave(world.person)
            await host.told(lambda change: isinstance(change, MemberLeft) and change.key == world.person.key)
        async with started(world) as host:
            await host.rest(QUIET)
        assert all(world.person.key not in _members(world, change) for change in host.changes), "who left is told still"


def _members(world: MemberWorld, change: DirectoryChange) -> dict[ParticipantKey, str]:
    """Return the names of those whom a change tells to be in the world's server."""
    if not isinstance(change, MembersSeen) or change.server.external_id != world.server.external_id:
        return {}
    return {member.key: member.display_name for member in change.members}


class MentionContract:
    """For platforms where a mention calls the person."""

    async def test_who_is_mentioned_is_called(self, world: BridgeWorld) -> None:
        """Between core and bridge a mention stands as `<@ID>`; the platform gets it in its own form."""
        async with started(world):
            text = f"<@{world.person.external_id}> look"
            message_id = await post(world, outgoing(world, text, mentions=(world.person.key,)))
            history = await world.bridge.history(world.server, world.channel, 1)
        assert set(await world.pinged(message_id)) == {world.person.external_id}
        assert world.mention(world.person) in history[0].text, f"the mention stands as {history[0].text!r}"
