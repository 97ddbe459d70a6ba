"""What a relay hears, once it listens, and whose words stand on a platform."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from agent.app import Agent
from agent.bridge import OutgoingMessage, SentMessage
from agent.events import Author, Event, MessageCreated
from agent.identity.keys import ParticipantKind
from agent.places import ChannelRef, ServerRef
from agent.relaying.hearing import Said
from agent.store.errors import DatabaseUnavailable
from agent.testing.app import running_agent
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from agent.testing.scripted_model import ScriptedModel

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts
CYN = Author(ParticipantKind.MATRIX_USER, "@cyn:home.test", "Cyn", platform="matrix")


@dataclass
class Ears:
    heard: list[object] = field(default_factory=list)
    faults: list[Exception] = field(default_factory=list)

    async def hear(self, event: Event) -> None:
        self.heard.append(event.text if isinstance(event, MessageCreated) else event.type)

    async def hear_agent(self, said: Said) -> None:
        if self.faults:
            raise self.faults.pop()
        self.heard.append((said.message.text, said.message_id))

    async def hear_withdrawal(self, message: SentMessage) -> None:
        self.heard.append(("withdrawn", message.message_id))


@pytest.fixture
def platform() -> FakePlatform:
    return FakePlatform()


@pytest.fixture
async def agent(database_url: str, platform: FakePlatform) -> AsyncIterator[Agent]:
    model = ScriptedModel(default="Well.")
    async with running_agent(database_url, bridge=FakeBridge(platform=platform), model=model) as agent:
        yield agent


async def test_what_is_said_is_heard_in_order_also_of_the_agent(agent: Agent, platform: FakePlatform) -> None:
    ears = Ears()
    agent.relaying.overhear("fake", ears)
    answer = await platform.ask("ana", "hello")
    await agent.idle()
    assert ears.heard == ["hello", ("Well.", answer.message_id)]


async def test_an_answer_is_settled_only_when_it_was_heard(agent: Agent, platform: FakePlatform) -> None:
    ears = Ears(faults=[DatabaseUnavailable("away"), DatabaseUnavailable("away")])
    agent.relaying.overhear("fake", ears)
    answer = await platform.ask("ana", "hello")
    await agent.idle()
    assert ears.heard == ["hello", ("Well.", answer.message_id)]
    assert ears.faults == []
    assert answer.message_id in await agent.own_messages("fake", [answer.message_id])


async def test_a_relays_own_events_and_messages_are_not_heard(agent: Agent, platform: FakePlatform) -> None:
    ears = Ears()
    agent.relaying.overhear("fake", ears)
    server, channel = platform.place()
    await agent.receive(replace(a_message(server, channel, "relay:$1"), mentions_agent=False))
    message = OutgoingMessage("relay:note:1", "fake", channel, server, "linked")
    await agent.relaying.post(message)
    await agent.relaying.post(message)
    await agent.idle()
    assert ears.heard == []
    assert [each.text for each in platform.from_agent] == ["linked"]


async def test_what_another_bridge_hears_in_a_claimed_place_is_dropped(agent: Agent, platform: FakePlatform) -> None:
    server, channel = platform.place()
    agent.relaying.claim(frozenset({("fake", channel.external_id)}))
    thread = ChannelRef("thread", "Thread", parent_external_id=channel.external_id)
    await agent.receive(a_message(server, channel, "$1"))
    await agent.receive(a_message(server, thread, "$2"))
    await agent.idle()
    assert list(platform.from_agent) == []
    await agent.receive(a_message(server, channel, "relay:$1"))
    await agent.idle()
    assert len(platform.from_agent) == 1


async def test_somebody_from_elsewhere_has_one_account(agent: Agent, platform: FakePlatform) -> None:
    server, channel = platform.place()
    people, now = agent.core.people, agent.core.clock.now()
    here = await people.enter(server, channel, CYN, now)
    room = ServerRef("matrix", "!room:home.test", "Room")
    there = await people.enter(room, ChannelRef("!room:home.test", "Room"), replace(CYN, platform=None), now)
    again = await people.enter(server, channel, CYN, now)
    assert here.account.account_id == there.account.account_id == again.account.account_id
    assert (here.account.platform, here.account.user_id, here.is_new) == ("matrix", None, True)
    assert not there.is_new


async def test_webhooks_are_trusted_by_the_server_that_named_them(agent: Agent) -> None:
    home, other = ServerRef("fake", "home", "Home"), ServerRef("fake", "other", "Other")
    assert await agent.relaying.trust(home, "7")
    assert not await agent.relaying.trust(home, "7")
    assert agent.trusts("fake", "7")
    assert await agent.relaying.trusted_in(home) == ("7",)
    assert await agent.relaying.trusted_in(other) == ()
    assert not await agent.relaying.distrust(other, "7")
    await agent.relaying.load(["fake"])
    assert agent.trusts("fake", "7")
    assert await agent.relaying.distrust(home, "7")
    assert not agent.trusts("fake", "7")


def a_message(server: ServerRef, channel: ChannelRef, event_id: str) -> MessageCreated:
    from datetime import UTC, datetime

    return MessageCreated(
        "fake", event_id, event_id, server, channel, CYN, "hey", datetime.now(UTC), mentions_agent=True
    )
