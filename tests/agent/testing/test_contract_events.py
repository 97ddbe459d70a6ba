"""The contract is worth what it finds: each of these bridges is wrong in one way, and fails its test."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from agent.bridge import BridgeHost, Capabilities, HistoryMessage, OutcomeUnknown, OutgoingMessage, SendFailed, Sent
from agent.events import Attachment, Event, MessageCreated, MessageDeleted, MessageEdited, ReactionAdded
from agent.identity.keys import ParticipantKey
from agent.places import ChannelRef, ServerRef, Visibility
from agent.testing.contract import FullBridgeContract
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from tests.agent.testing.fake_worlds import FakeWorld

type Change = Callable[[Event], list[Event]]

NUMBERS = count(1)


class Changing(FakeBridge):
    """Changes what it brings."""

    def __init__(self, platform: FakePlatform, change: Change) -> None:
        super().__init__(platform=platform)
        self._change = change

    async def start(self, host: BridgeHost) -> None:
        await super().start(_ChangingHost(host, self._change))


class _ChangingHost:
    def __init__(self, host: BridgeHost, change: Change) -> None:
        self._host = host
        self._change = change

    def __getattr__(self, name: str) -> Any:
        return getattr(self._host, name)

    async def receive(self, event: Event) -> None:
        for changed in self._change(event):
            await self._host.receive(changed)


def without(kind: type[Event]) -> Change:
    return lambda event: [] if isinstance(event, kind) else [event]


def with_fields(kind: type[Event], **fields: Any) -> Change:
    return lambda event: [replace(event, **fields)] if isinstance(event, kind) else [event]


def with_channel(**fields: Any) -> Change:
    return lambda event: [replace(event, channel=replace(event.channel, **fields))]


def as_person(event: Event) -> list[Event]:
    return [replace(event, author=replace(event.author, is_bot=False)) if isinstance(event, MessageCreated) else event]


def renumbered(event: Event) -> list[Event]:
    return [replace(event, event_id=f"number-{next(NUMBERS)}")]


CHANGED: list[tuple[str, Change]] = [
    ("test_what_is_said_comes_as_an_event", with_fields(MessageCreated, text="something else")),
    ("test_what_is_said_comes_as_an_event", with_fields(MessageCreated, message_id="1")),
    ("test_what_is_said_comes_as_an_event", with_fields(MessageCreated, event_id="")),
    ("test_what_is_said_comes_as_an_event", with_channel(name="another")),
    ("test_events_of_a_channel_come_in_order", with_fields(MessageCreated, event_id="always-the-same")),
    ("test_stop_may_be_called_twice_and_start_again", lambda event: [event, event]),
    ("test_an_event_that_comes_again_bears_the_same_id", renumbered),
    ("test_an_edit_comes_as_an_event", with_fields(MessageEdited, text="the old text")),
    ("test_an_edit_comes_as_an_event", with_fields(MessageEdited, message_id="1")),
    ("test_an_edit_comes_as_an_event", lambda event: [event, event] if isinstance(event, MessageEdited) else [event]),
    ("test_two_edits_are_two_events", with_fields(MessageEdited, event_id="edited")),
    ("test_a_deletion_comes_as_an_event", with_fields(MessageDeleted, message_id="1")),
    ("test_a_reaction_comes_as_an_event", with_fields(ReactionAdded, emoji="👎")),
    ("test_a_thread_knows_its_parent", with_channel(parent_external_id=None)),
    ("test_a_thread_knows_its_parent", with_channel(parent_name="another")),
    ("test_a_bot_is_marked_as_one", as_person),
    ("test_a_direct_conversation_is_known_as_one", with_channel(visibility=Visibility.EVERYONE)),
    ("test_a_mention_of_the_agent_is_marked", with_fields(MessageCreated, mentions_agent=True)),
    ("test_a_mention_of_the_agent_is_marked", with_fields(MessageCreated, mentions_agent=False)),
    ("test_a_reply_to_the_agent_is_marked", with_fields(MessageCreated, reply=None)),
]


@pytest.mark.parametrize(("test", "change"), CHANGED)
async def test_wrong_events_are_noticed(test: str, change: Change) -> None:
    platform = FakePlatform()
    await _must_fail(test, platform, Changing(platform, change))


async def test_events_that_do_not_come_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.testing.recording_host.PATIENCE", 0.05)
    platform = FakePlatform()
    await _must_fail(
        "test_an_edit_comes_as_an_event", platform, Changing(platform, without(MessageEdited)), TimeoutError
    )


class Doubling(FakeBridge):
    """Sends under a fresh key each time, though it says that it has keys."""

    async def send(self, message: OutgoingMessage) -> Sent | OutcomeUnknown:
        return await super().send(replace(message, key=f"{message.key}-{next(NUMBERS)}"))


class Shouting(FakeBridge):
    """Leaves it to the platform who is pinged."""

    def __init__(self, platform: FakePlatform) -> None:
        super().__init__(platform=platform)
        self._all = platform

    async def send(self, message: OutgoingMessage) -> Sent | OutcomeUnknown:
        outcome = await super().send(message)
        posted = self._all.from_agent[-1]
        self._all._archive.replace(posted, replace(posted, allowed_mentions=None))
        return outcome


class Boasting(FakeBridge):
    """Says that a message may be longer than it may."""

    def __init__(self, platform: FakePlatform) -> None:
        super().__init__(platform=platform)
        self.capabilities = Capabilities(platform.capabilities.message_limit + 1, has_idempotency_key=True)


class Backwards(FakeBridge):
    """Gives history newest first."""

    async def history(self, server: ServerRef, channel: ChannelRef, limit: int) -> Sequence[HistoryMessage]:
        return tuple(reversed(await super().history(server, channel, limit)))


class Boundless(FakeBridge):
    """Gives more history than asked for."""

    async def history(self, server: ServerRef, channel: ChannelRef, limit: int) -> Sequence[HistoryMessage]:
        return await super().history(server, channel, limit + 1)


class Confused(FakeBridge):
    """Takes any message for the one that is looked for."""

    async def find_sent(self, message: OutgoingMessage) -> Sent | None:
        return Sent("1001")


class Silent(FakeBridge):
    """Calls nobody."""

    async def send(self, message: OutgoingMessage) -> Sent | OutcomeUnknown:
        return await super().send(replace(message, mentions=()))


class Formless(FakeBridge):
    """Leaves a mention in the form that it has in the core."""

    async def send(self, message: OutgoingMessage) -> Sent | OutcomeUnknown:
        return await super().send(replace(message, text=message.text.replace("<@", "<person:")))


class Stranger(FakeBridge):
    """Does not know its own account."""

    def agent_keys(self) -> frozenset[ParticipantKey]:
        return frozenset()


class Cardless(FakeBridge):
    """Takes no cards."""

    async def send(self, message: OutgoingMessage) -> Sent | OutcomeUnknown:
        if message.card is not None:
            raise SendFailed("no cards here")
        return await super().send(message)


class Strict(FakeBridge):
    """Raises where only comfort is at stake."""

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        raise AssertionError(f"nobody asks for {attachment} of {limit}")

    async def typing(self, channel: ChannelRef) -> None:
        if channel.name == "gone":
            raise ConnectionError


class Changeable(FakeBridge):
    """Is somebody else after each start."""

    def identity(self) -> str:
        return f"bot-{next(NUMBERS)}"


class Deaf(FakeBridge):
    """Brings nothing after it was stopped once."""

    def __init__(self, platform: FakePlatform) -> None:
        super().__init__(platform=platform)
        self._stopped = False

    async def start(self, host: BridgeHost) -> None:
        if not self._stopped:
            await super().start(host)

    async def stop(self) -> None:
        self._stopped = True
        await super().stop()


class Echoing(FakeBridge):
    """Brings the agent's own messages as events."""

    def __init__(self, platform: FakePlatform) -> None:
        super().__init__(platform=platform)
        self._all = platform

    async def send(self, message: OutgoingMessage) -> Sent | OutcomeUnknown:
        await self._all.say("agent", message.text)
        return await super().send(message)


class Fragile(FakeBridge):
    """Brings nothing more once the core has failed."""

    def __init__(self, platform: FakePlatform) -> None:
        super().__init__(platform=platform)
        self._all = platform

    async def start(self, host: BridgeHost) -> None:
        await super().start(_FragileHost(host))


class _FragileHost(_ChangingHost):
    def __init__(self, host: BridgeHost) -> None:
        super().__init__(host, lambda event: [event])
        self._broken = False

    async def receive(self, event: Event) -> None:
        if self._broken:
            return
        try:
            await super().receive(event)
        except RuntimeError:
            self._broken = True
            raise


WRONG: list[tuple[str, Callable[[FakePlatform], FakeBridge]]] = [
    ("test_one_key_delivers_once", lambda platform: Doubling(platform=platform)),
    ("test_nobody_is_pinged_who_may_not_be", Shouting),
    ("test_a_card_is_taken", Shouting),
    ("test_who_is_mentioned_is_called", lambda platform: Silent(platform=platform)),
    ("test_who_is_mentioned_is_called", lambda platform: Formless(platform=platform)),
    ("test_what_is_sent_stands_in_history", lambda platform: Stranger(platform=platform)),
    ("test_a_text_of_the_limit_is_taken_whole", Boasting),
    ("test_history_is_oldest_first_and_bounded", lambda platform: Backwards(platform=platform)),
    ("test_history_is_oldest_first_and_bounded", lambda platform: Boundless(platform=platform)),
    ("test_what_was_never_sent_is_not_found", lambda platform: Confused(platform=platform)),
    ("test_a_card_is_taken", lambda platform: Cardless(platform=platform)),
    ("test_typing_never_raises", lambda platform: Strict(platform=platform)),
    ("test_its_identity_stays_the_same", lambda platform: Changeable(platform=platform)),
    ("test_stop_may_be_called_twice_and_start_again", Deaf),
    ("test_its_own_messages_do_not_come_back", Echoing),
    ("test_a_core_that_fails_does_not_end_it", Fragile),
]


@pytest.mark.parametrize(("test", "build"), WRONG)
async def test_wrong_bridges_are_noticed(
    test: str, build: Callable[[FakePlatform], FakeBridge], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.testing.recording_host.PATIENCE", 0.2)
    platform = FakePlatform()
    await _must_fail(test, platform, build(platform), AssertionError, TimeoutError, SendFailed, ConnectionError)


async def _must_fail(test: str, platform: FakePlatform, bridge: FakeBridge, *errors: type[Exception]) -> None:
    run: Callable[[FakeWorld], Awaitable[None]] = getattr(FullBridgeContract(), test)
    with pytest.raises(errors or (AssertionError, TimeoutError)):
        await run(FakeWorld(platform, bridge))
    await asyncio.sleep(0)
