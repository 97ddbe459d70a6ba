from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from agent.bridge import BridgeStartFailed, Capabilities, OutcomeUnknown, OutgoingMessage, SendFailed, Sent
from agent.contracts.cards import Card, CardKind
from agent.events import MessageCreated
from agent.testing.fake_bridge import FakeBridge, FakeBridgeSettings, bridge_section
from agent.testing.fake_platform import FakePlatform
from agent.testing.fake_remote import serve
from agent.testing.fake_values import EventRefused, Lost, Refused, Replay
from agent.testing.recording_host import RecordingHost


@pytest.fixture
def platform() -> FakePlatform:
    capabilities = Capabilities(321, has_idempotency_key=False, typing=False, length_unit="bytes")
    return FakePlatform("other", capabilities=capabilities, replay=Replay.EVERYTHING, identity="bot")


@pytest.fixture
def socket(tmp_path: Path) -> Path:
    return tmp_path / "platform.sock"


@pytest_asyncio.fixture
async def served(platform: FakePlatform, socket: Path) -> AsyncIterator[None]:
    async with serve(platform, socket):
        yield


@pytest_asyncio.fixture
async def bridge(platform: FakePlatform, socket: Path) -> AsyncIterator[FakeBridge]:
    bridge = _bridge(platform, socket)
    yield bridge
    await bridge.stop()


def _bridge(platform: FakePlatform, socket: Path) -> FakeBridge:
    section = bridge_section(platform, socket)
    assert section.pop("module") == "agent.testing.fake_bridge"
    return FakeBridge(FakeBridgeSettings.model_validate(section))


def message(platform: FakePlatform, key: str = "k", text: str = "hello", card: Card | None = None) -> OutgoingMessage:
    server, channel = platform.place()
    return OutgoingMessage(key, platform.name, channel, server, text, card=card)


def texts(host: RecordingHost) -> list[str]:
    return [event.text for event in host.events if isinstance(event, MessageCreated)]


def test_the_settings_carry_what_the_platform_is_like(platform: FakePlatform, socket: Path) -> None:
    bridge = _bridge(platform, socket)
    assert (bridge.platform, bridge.identity(), bridge.capabilities) == ("other", "bot", platform.capabilities)


def test_a_bridge_to_nowhere_is_refused() -> None:
    with pytest.raises(ValueError, match="needs a platform, or the socket"):
        FakeBridge(FakeBridgeSettings())


async def test_events_come_in_order_and_are_acknowledged(
    platform: FakePlatform, served: None, bridge: FakeBridge
) -> None:
    host = RecordingHost()
    await bridge.start(host)
    for number in range(20):
        await platform.say("ana", f"{number} 👩‍👩‍👧 \u2028 line")
    assert texts(host) == [f"{number} 👩‍👩‍👧 \u2028 line" for number in range(20)]
    assert platform.events.unacknowledged == ()


async def test_what_the_agent_raises_comes_back(platform: FakePlatform, served: None, bridge: FakeBridge) -> None:
    host = RecordingHost()
    await bridge.start(host)
    await platform.settled()
    host.fail_next(ValueError("no room"))
    with pytest.raises(EventRefused, match="no room"):
        await platform.say("ana", "hello")


async def test_outcomes_of_sends_come_back(platform: FakePlatform, served: None, bridge: FakeBridge) -> None:
    await bridge.start(RecordingHost())
    platform.sends.fail_next(Refused("slow down", retry_after=1.5), Refused("forbidden"), Lost(posted=True))
    for reason, retry_after in [("slow down", 1.5), ("forbidden", None)]:
        with pytest.raises(SendFailed, match=reason) as failure:
            await bridge.send(message(platform))
        assert failure.value.retry_after == retry_after
    assert isinstance(await bridge.send(message(platform)), OutcomeUnknown)
    found = await bridge.find_sent(message(platform))
    assert found == Sent(platform.from_agent[0].message_id)
    assert await bridge.find_sent(message(platform, "other", "other")) is None


async def test_cards_arrive_whole(platform: FakePlatform, served: None, bridge: FakeBridge) -> None:
    await bridge.start(RecordingHost())
    card = Card(CardKind.EVICTED, "Saved", ("one", "two"), 7, "ana", "the old one")
    await bridge.send(message(platform, card=card))
    assert platform.from_agent[0].card == card


async def test_history_and_typing(platform: FakePlatform, served: None, bridge: FakeBridge) -> None:
    await bridge.start(RecordingHost())
    await platform.say("ana", "hello")
    server, channel = platform.place()
    assert await bridge.history(server, channel, 5) == await platform.history(channel, 5)
    await bridge.typing(channel)
    assert platform.typing == [channel]


async def test_commands_and_stopping(platform: FakePlatform, served: None, bridge: FakeBridge) -> None:
    await bridge.start(RecordingHost())
    reply = await platform.run_command("ana", "memories", "list", page=2)
    assert reply.text == "ana ran memories list in home/general"
    await platform.say("ana", "hello")
    assert await platform.stop_turn()


async def test_everything_is_told_again_after_a_lost_connection(
    platform: FakePlatform, served: None, bridge: FakeBridge
) -> None:
    host = RecordingHost()
    await bridge.start(host)
    await platform.say("ana", "first")
    platform.lose_connection()
    await platform.say("ana", "second")
    assert isinstance(await bridge.send(message(platform)), OutcomeUnknown)
    platform.reconnect()
    assert [(await host.next(MessageCreated)).text for _ in range(3)] == ["first", "first", "second"]
    assert isinstance(await bridge.send(message(platform)), Sent)


async def test_an_agent_that_went_away_in_a_call_misses_nothing(
    platform: FakePlatform, served: None, bridge: FakeBridge
) -> None:
    class Gone(RecordingHost):
        async def receive(self, event: object) -> None:
            platform.lose_connection()
            await asyncio.sleep(0.05)

    await bridge.start(Gone())
    await platform.say("ana", "hello")
    assert [event.event_id for event in platform.events.unacknowledged] == ["created:1001"]


async def test_an_agent_waits_for_a_platform_that_comes_later(
    platform: FakePlatform, socket: Path, bridge: FakeBridge
) -> None:
    start = asyncio.create_task(bridge.start(RecordingHost()))
    await asyncio.sleep(0.05)
    assert not start.done()
    async with serve(platform, socket):
        await start
        assert isinstance(await bridge.send(message(platform)), Sent)


async def test_an_agent_does_not_wait_for_ever(
    platform: FakePlatform, bridge: FakeBridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.testing.fake_remote.PATIENCE", 0.05)
    with pytest.raises(BridgeStartFailed, match="no platform is served at"):
        await bridge.start(RecordingHost())
    assert isinstance(await bridge.send(message(platform)), OutcomeUnknown)
    _, channel = platform.place()
    await bridge.typing(channel)
