"""What every bridge must do: tests that a bridge inherits to prove itself.

A bridge author writes a *world*, which can act on the platform like its people (`BridgeWorld`), and a test class:

    class TestMyBridge(FullBridgeContract):
        @pytest_asyncio.fixture
        async def world(self) -> AsyncIterator[BridgeWorld]:
            yield MyWorld()

`FullBridgeContract` is for a chat platform with edits, deletions, reactions, threads, bots and direct conversations;
one that lacks some of these inherits `BridgeContract` and those of the smaller contracts that fit. Each test gets a
fresh world whose bridge has not been started.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Final

from agent.bridge import SendFailed, Sent, SentMessage
from agent.contracts.cards import ActionKind, Card, CardAction, CardKind
from agent.events import MessageCreated
from agent.fitting import fitted
from agent.places import ChannelRef
from agent.testing.contract_events import (
    BotContract,
    DirectContract,
    EditContract,
    MemberContract,
    MentionContract,
    ReactionContract,
    RepeatedEventContract,
    ThreadContract,
)
from agent.testing.contract_steps import QUIET, outgoing, post, started
from agent.turn.split import MEASURES

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from agent.testing.worlds import BridgeWorld

__all__ = [
    "BotContract",
    "BridgeContract",
    "DirectContract",
    "EditContract",
    "FullBridgeContract",
    "MemberContract",
    "MentionContract",
    "ReactionContract",
    "RepeatedEventContract",
    "ThreadContract",
    "started",
]

_WIDE: Final = {"characters": "a", "utf16": "😀", "bytes": "é"}
"""A letter that takes as many units as letters may, to try a limit by its own unit."""
_LEAST_LIMIT: Final = 40
"""Shorter messages cannot hold a part of an answer with its code fence."""


async def _refused(call: Awaitable[None]) -> None:
    try:
        await call
    except SendFailed:
        return
    raise AssertionError("a bridge that cannot do it must raise SendFailed")


class BridgeContract:
    """What every bridge does, a terminal included."""

    async def test_it_says_what_it_is(self, world: BridgeWorld) -> None:
        """Name, platform and capabilities are known before it starts, and the limit is one that can be counted."""
        bridge = world.bridge
        assert bridge.name, "the bridge has no name"
        assert bridge.platform == world.server.platform, "the bridge and its servers name the platform alike"
        assert bridge.capabilities.length_unit in _WIDE, f"unknown unit {bridge.capabilities.length_unit!r}"
        assert bridge.capabilities.message_limit >= _LEAST_LIMIT, "a message holds 40 characters at least"

    async def test_its_identity_stays_the_same(self, world: BridgeWorld) -> None:
        """The lock that keeps a second process away is taken by it."""
        before = world.bridge.identity()
        async with started(world):
            assert world.bridge.identity() == before, "identity() changed with the start"
        assert world.bridge.identity() == before, "identity() changed with the stop"

    async def test_stop_may_be_called_twice_and_start_again(self, world: BridgeWorld) -> None:
        """Neither raises, and events come once afterwards."""
        await world.bridge.stop()
        async with started(world):
            pass
        await world.bridge.stop()
        async with started(world) as host:
            await world.say("after the second start")
            assert (await host.next(MessageCreated)).text == "after the second start"
            assert await host.rest(QUIET) == [], "an event came twice after the second start"

    async def test_what_is_said_comes_as_an_event(self, world: BridgeWorld) -> None:
        """With its text unchanged, who said it, where and when."""
        text = "Grüße, 世界 👩‍👩‍👧 \u202ereversed\u202c _not_ *bold*"
        async with started(world) as host:
            message_id = await world.say(text)
            event = await host.next(MessageCreated)
        assert event.text == text, f"the text came as {event.text!r}"
        assert event.message_id == message_id, "the event names another message"
        assert event.platform == world.bridge.platform, "the event names another platform"
        assert event.server == world.server, f"the server came as {event.server!r}"
        assert event.channel == world.channel, f"the channel came as {event.channel!r}"
        assert event.author.key == world.person.key, f"the author came as {event.author!r}"
        assert not event.author.is_bot, "a person came as a bot"
        assert event.occurred_at.tzinfo is not None, "the moment has no time zone"
        assert event.event_id, "the event has no id"

    async def test_events_of_a_channel_come_in_order(self, world: BridgeWorld) -> None:
        """As they were said, each with an id of its own."""
        texts = [f"number {number}" for number in range(8)]
        async with started(world) as host:
            for text in texts:
                await world.say(text)
            events = [await host.next(MessageCreated) for _ in texts]
        assert [event.text for event in events] == texts, "the order changed on the way"
        assert len({event.event_id for event in events}) == len(texts), "two events share an id"

    async def test_a_core_that_fails_does_not_end_it(self, world: BridgeWorld) -> None:
        """The next event comes all the same."""
        async with started(world) as host:
            host.fail_next(RuntimeError("on purpose"))
            with contextlib.suppress(Exception):
                await world.say("lost")
            await host.failed()
            await world.say("kept")
            event = await host.next(MessageCreated)
            assert event.text == "kept", f"the next event was {event.text!r}"

    async def test_history_is_oldest_first_and_bounded(self, world: BridgeWorld) -> None:
        """`limit` counts from the newest; 0 gives nothing."""
        async with started(world) as host:
            for number in range(4):
                await world.say(f"said {number}")
                await host.next(MessageCreated)
            history = await world.bridge.history(world.server, world.channel, 3)
            nothing = await world.bridge.history(world.server, world.channel, 0)
        assert [message.text for message in history] == ["said 1", "said 2", "said 3"]
        assert list(nothing) == [], "limit 0 gave messages"
        assert all(message.author.key == world.person.key for message in history), "the authors are wrong"
        assert not any(message.from_agent for message in history), "people's messages are marked as the agent's"

    async def test_what_is_sent_stands_in_history(self, world: BridgeWorld) -> None:
        """Under the id that `Sent` told, as the agent's."""
        async with started(world):
            message_id = await post(world, outgoing(world, "hello from the agent"))
            history = await world.bridge.history(world.server, world.channel, 10)
        found = [message for message in history if message.message_id == message_id]
        assert [message.text for message in found] == ["hello from the agent"]
        assert found[0].from_agent, "the agent's own message is not marked as such"
        assert found[0].author.key in world.bridge.agent_keys(), "its author is not among the agent's accounts"

    async def test_one_key_delivers_once(self, world: BridgeWorld) -> None:
        """Where there are idempotency keys; elsewhere the message is found again, so that nobody sends it twice."""
        message = outgoing(world, "only once")
        async with started(world):
            first = await post(world, message)
            if world.bridge.capabilities.has_idempotency_key:
                assert await post(world, message) == first, "the second send under one key has another id"
            else:
                assert await world.bridge.find_sent(message) == Sent(first), "find_sent does not find what was sent"
            history = await world.bridge.history(world.server, world.channel, 10)
        assert [m.text for m in history].count("only once") == 1, "the people see it twice"

    async def test_what_was_never_sent_is_not_found(self, world: BridgeWorld) -> None:
        """`find_sent` answers None, and does not take another message for it."""
        async with started(world):
            await post(world, outgoing(world, "another message", "key-1"))
            assert await world.bridge.find_sent(outgoing(world, "never sent", "key-2")) is None

    async def test_a_text_of_the_limit_is_taken_whole(self, world: BridgeWorld) -> None:
        """The limit that the capabilities tell is true, in their own unit."""
        limit, unit = world.bridge.capabilities.message_limit, world.bridge.capabilities.length_unit
        letter = _WIDE[unit]
        text = letter * (limit // MEASURES[unit](letter))
        text += "a" * (limit - MEASURES[unit](text))
        async with started(world):
            message_id = await post(world, outgoing(world, text))
            history = await world.bridge.history(world.server, world.channel, 1)
        assert [(message.message_id, message.text) for message in history] == [(message_id, text)]

    async def test_nobody_is_pinged_who_may_not_be(self, world: BridgeWorld) -> None:
        """Whatever the text holds: `@everyone`, or a person who is not among the mentions."""
        named, here = world.mention(world.person), f"<@{world.person.external_id}>"
        async with started(world):
            shout = await post(world, outgoing(world, f"@everyone @here @room {named} {here} look", "key-1"))
            call = await post(world, outgoing(world, f"{here} @everyone look", "key-2", mentions=(world.person.key,)))
        assert set(await world.pinged(shout)) == set(), "somebody was pinged who is not among the mentions"
        assert set(await world.pinged(call)) <= {world.person.external_id}, "somebody else was pinged"

    async def test_a_card_is_taken(self, world: BridgeWorld) -> None:
        """A notice with every field, untrusted texts included."""
        card = Card(
            CardKind.SAVED,
            "Saved @everyone",
            lines=("Game night is every Friday ```", "[link](https://example.org)"),
            memory_id=7,
            about="Ana `*_~|",
            forgotten="the oldest one",
            actions=(CardAction(ActionKind.UNDO, "Undo `*", ("memories", "undo"), {"id": 7}, "/memories undo 7"),),
        )
        async with started(world):
            message_id = await post(world, outgoing(world, card.title, card=card))
        assert set(await world.pinged(message_id)) == set(), "a card pinged somebody"

    async def test_a_card_of_the_limit_is_taken(self, world: BridgeWorld) -> None:
        """With a file beside it where files can go along; longer ones come shortened (`agent.fitting`)."""
        capabilities = world.bridge.capabilities
        letter = _WIDE[capabilities.length_unit]
        card = Card(CardKind.SAVED, "Saved", (letter * capabilities.card_limit,), memory_id=7)
        message = fitted(outgoing(world, card.title, card=card), capabilities)
        assert (message.file is not None) == capabilities.files, "what was left out goes along as a file"
        async with started(world):
            assert await post(world, message), "a card of the limit was not taken"

    async def test_every_action_has_an_id_that_a_platform_takes(self, world: BridgeWorld) -> None:
        """Where a bridge has buttons, many of them stand under one card."""
        pressed = tuple(
            CardAction(kind, kind.value, ("memories", kind.value), {"id": 2**63 - 1}, f"/memories {kind.value} 7")
            for kind in ActionKind
        )
        card = Card(CardKind.EVICTED, "Saved", ("tea",), 7, forgotten="coffee", actions=pressed)
        async with started(world):
            assert await post(world, outgoing(world, card.title, card=card))

    async def test_what_is_withdrawn_is_gone(self, world: BridgeWorld) -> None:
        """And withdrawing it again, or what never was, is no failure; where nothing can be deleted it is refused."""
        bridge = world.bridge
        async with started(world) as host:
            kept = await post(world, outgoing(world, "stays", "key-1"))
            gone = await post(world, outgoing(world, "goes", "key-2"))
            sent = SentMessage(bridge.platform, world.channel.external_id, gone)
            if not bridge.capabilities.withdraws:
                await _refused(bridge.withdraw(sent))
                return
            await bridge.withdraw(sent)
            await bridge.withdraw(sent)
            history = await bridge.history(world.server, world.channel, 10)
            assert await host.rest(QUIET) == [], "its own deletion came as an event"
        assert [message.message_id for message in history] == [kept], "history still holds what was withdrawn"

    async def test_a_card_can_be_withdrawn(self, world: BridgeWorld) -> None:
        """As a message can."""
        if not world.bridge.capabilities.withdraws:
            return
        async with started(world):
            card = await post(world, outgoing(world, "Saved", card=Card(CardKind.SAVED, "Saved", ("tea",))))
            await world.bridge.withdraw(SentMessage(world.bridge.platform, world.channel.external_id, card))

    async def test_its_own_message_gets_another_text(self, world: BridgeWorld) -> None:
        """Under the same id, twice without harm, and pinging nobody who may not be; or the edit is refused."""
        bridge = world.bridge
        async with started(world) as host:
            message_id = await post(world, outgoing(world, "first"))
            second = outgoing(world, "second @everyone", "key-2")
            if not bridge.capabilities.edits:
                await _refused(bridge.edit(message_id, second))
                return
            await bridge.edit(message_id, second)
            await bridge.edit(message_id, second)
            history = await bridge.history(world.server, world.channel, 10)
            assert await host.rest(QUIET) == [], "its own edit came as an event"
        assert [message.message_id for message in history] == [message_id]
        assert history[0].text.startswith("second"), f"the text is still {history[0].text!r}"
        assert set(await world.pinged(message_id)) == set(), "an edit pinged somebody"

    async def test_its_own_messages_do_not_come_back(self, world: BridgeWorld) -> None:
        """An agent that hears itself answers itself."""
        async with started(world) as host:
            await post(world, outgoing(world, "my own words"))
            assert [e for e in await host.rest(QUIET) if isinstance(e, MessageCreated)] == []

    async def test_typing_never_raises(self, world: BridgeWorld) -> None:
        """Not even for a channel that is gone: it is only comfort."""
        async with started(world):
            await world.bridge.typing(world.channel)
            await world.bridge.typing(ChannelRef("no-such-channel", "gone"))

    async def test_history_of_an_unknown_channel_is_empty_or_an_error(self, world: BridgeWorld) -> None:
        """It does not hang, and gives no other channel's messages."""
        async with started(world) as host:
            await world.say("elsewhere")
            await host.next(MessageCreated)
            async with asyncio.timeout(5):
                try:
                    history = list(await world.bridge.history(world.server, ChannelRef("no-such-channel", "gone"), 10))
                except Exception:  # noqa: BLE001 - whatever the platform's client raises
                    history = []
        assert history == [], "an unknown channel has the messages of another one"


class FullBridgeContract(
    BridgeContract,
    RepeatedEventContract,
    EditContract,
    ReactionContract,
    ThreadContract,
    BotContract,
    DirectContract,
    MemberContract,
    MentionContract,
):
    """Everything that a chat platform can be asked for; its world is a `FullWorld`."""
