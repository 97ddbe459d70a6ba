from __future__ import annotations

import asyncio
import random
import time
from dataclasses import replace

import pytest

from agent.bridge import Capabilities, OutcomeUnknown, OutgoingMessage, SendFailed, Sent
from agent.contracts.cards import Card, CardKind
from agent.events import MessageCreated
from agent.places import ServerKind, Visibility
from agent.store.errors import DatabaseUnavailable
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from agent.testing.fake_values import ConnectionLost, EventRefused, Lost, NothingCame, Refused, Replay, Slow
from agent.testing.recording_host import RecordingHost

UNKEYED = Capabilities(2000, has_idempotency_key=False)


def message(platform: FakePlatform, key: str = "k", text: str = "hello", **more: object) -> OutgoingMessage:
    server, channel = platform.place()
    plain = OutgoingMessage(key, platform.name, channel, server, text)
    return replace(plain, **more)  # type: ignore[arg-type]


async def connected(platform: FakePlatform) -> tuple[FakeBridge, RecordingHost]:
    bridge, host = FakeBridge(platform=platform), RecordingHost()
    await bridge.start(host)
    return bridge, host


def texts(host: RecordingHost) -> list[str]:
    return [event.text for event in host.events if isinstance(event, MessageCreated)]


async def test_ids_grow_with_time() -> None:
    platform = FakePlatform()
    said = [await platform.say("ana", "one"), await platform.say("ben", "two", channel="other")]
    posted = await platform.sends.post(message(platform))
    assert isinstance(posted, Sent)
    numbers = [int(said[0].message_id), int(said[1].message_id), int(posted.message_id)]
    assert numbers == sorted(set(numbers))


@pytest.mark.parametrize(
    ("channel", "kind", "visibility", "parent"),
    [
        ("general", ServerKind.GUILD, Visibility.EVERYONE, None),
        ("general/plans", ServerKind.GUILD, Visibility.EVERYONE, "home/general"),
        ("secret", ServerKind.GUILD, Visibility.RESTRICTED, None),
        ("secret/plans", ServerKind.GUILD, Visibility.RESTRICTED, "home/secret"),
        ("@ana", ServerKind.DIRECT, Visibility.DIRECT, None),
    ],
)
def test_places_by_their_path(channel: str, kind: ServerKind, visibility: Visibility, parent: str | None) -> None:
    platform = FakePlatform()
    platform.restrict("secret")
    server, place = platform.place(channel)
    assert (server.kind, place.visibility, place.parent_external_id) == (kind, visibility, parent)


async def test_what_the_agent_missed_comes_when_it_connects() -> None:
    platform = FakePlatform()
    await platform.say("ana", "before")
    bridge, host = await connected(platform)
    await platform.settled()
    await bridge.stop()
    await platform.say("ana", "between")
    await bridge.start(host)
    await platform.settled()
    assert texts(host) == ["before", "between"]


@pytest.mark.parametrize(
    ("replay", "expected"),
    [
        (Replay.EVERYTHING, ["first", "first", "second", "third"]),
        (Replay.MISSED, ["first", "second", "third"]),
        (Replay.NOTHING, ["first", "third"]),
    ],
)
async def test_what_is_replayed(replay: Replay, expected: list[str]) -> None:
    platform = FakePlatform(replay=replay)
    bridge, host = await connected(platform)
    await platform.say("ana", "first")
    await bridge.stop()
    await platform.say("ana", "second")
    await bridge.start(host)
    await platform.say("ana", "third")
    await platform.settled()
    assert texts(host) == expected


async def test_an_event_is_given_again_while_the_database_is_away() -> None:
    platform = FakePlatform()
    _, host = await connected(platform)
    host.fail_next(DatabaseUnavailable("gone"), DatabaseUnavailable("gone"))
    await platform.say("ana", "hello")
    assert texts(host) == ["hello"]


async def test_an_event_that_was_refused_is_missed() -> None:
    platform = FakePlatform()
    bridge, host = await connected(platform)
    host.fail_next(ValueError("no room"))
    with pytest.raises(EventRefused, match="no room"):
        await platform.say("ana", "hello")
    assert [event.event_id for event in platform.events.unacknowledged] == ["created:1001"]
    await bridge.start(host)
    await platform.settled()
    assert texts(host) == ["hello"]
    assert platform.events.unacknowledged == ()


async def test_doubled_events_come_twice() -> None:
    platform = FakePlatform()
    _, host = await connected(platform)
    platform.events.doubled = True
    await platform.say("ana", "hello")
    assert texts(host) == ["hello", "hello"]
    assert len({event.event_id for event in host.events}) == 1


async def test_held_events_come_in_another_order() -> None:
    platform = FakePlatform()
    _, host = await connected(platform)
    async with platform.events.held(random.Random(1)):
        for number in range(6):
            await platform.say("ana", str(number))
        assert texts(host) == []
    assert texts(host) != sorted(texts(host))
    assert sorted(texts(host)) == [str(number) for number in range(6)]


async def test_a_lost_connection_and_its_return() -> None:
    platform = FakePlatform()
    bridge, host = await connected(platform)
    server, channel = platform.place()
    platform.lose_connection()
    await platform.say("ana", "unheard")
    assert texts(host) == []
    assert isinstance(await bridge.send(message(platform)), OutcomeUnknown)
    with pytest.raises(ConnectionLost):
        await bridge.history(server, channel, 5)
    with pytest.raises(ConnectionLost):
        await bridge.find_sent(message(platform))
    with pytest.raises(ConnectionLost):
        await platform.run_command("ana", "help")
    platform.reconnect()
    await platform.settled()
    assert texts(host) == ["unheard"]
    assert isinstance(await bridge.send(message(platform)), Sent)
    assert len(platform.from_agent) == 1


async def test_a_key_delivers_once_and_the_tries_are_counted() -> None:
    platform = FakePlatform()
    assert await platform.sends.post(message(platform)) == await platform.sends.post(message(platform))
    assert len(platform.from_agent) == 1
    assert platform.sends.repeated == {"k": 2}
    assert platform.sends.doubled == {}


async def test_without_keys_people_see_it_twice() -> None:
    platform = FakePlatform(capabilities=UNKEYED)
    await platform.sends.post(message(platform))
    await platform.sends.post(message(platform))
    assert len(platform.from_agent) == 2
    assert platform.sends.doubled == {"k": 2}


@pytest.mark.parametrize("posted", [True, False])
@pytest.mark.parametrize("capabilities", [UNKEYED, Capabilities(2000, has_idempotency_key=True)])
async def test_a_lost_outcome_can_be_looked_up(posted: bool, capabilities: Capabilities) -> None:
    platform = FakePlatform(capabilities=capabilities)
    bridge, _ = await connected(platform)
    platform.sends.fail_next(Lost(posted=posted))
    assert isinstance(await bridge.send(message(platform)), OutcomeUnknown)
    assert (await bridge.find_sent(message(platform)) is not None) == posted
    assert len(platform.from_agent) == posted


async def test_sends_fail_as_told() -> None:
    platform = FakePlatform()
    platform.sends.fail_next(Refused("slow down", retry_after=2.5), Refused("forbidden"), Slow(0.05))
    for reason, retry_after in [("slow down", 2.5), ("forbidden", None)]:
        with pytest.raises(SendFailed, match=reason) as failure:
            await platform.sends.post(message(platform))
        assert failure.value.retry_after == retry_after
    began = time.monotonic()
    assert isinstance(await platform.sends.post(message(platform)), Sent)
    assert time.monotonic() - began >= 0.05


async def test_sends_fail_by_a_rule() -> None:
    platform = FakePlatform()
    platform.sends.fail_by(lambda sent, tries: Refused() if sent.key == "b" and tries == 1 else None)
    assert isinstance(await platform.sends.post(message(platform, "a")), Sent)
    with pytest.raises(SendFailed):
        await platform.sends.post(message(platform, "b"))
    assert isinstance(await platform.sends.post(message(platform, "b")), Sent)


@pytest.mark.parametrize(("text", "reason"), [("x" * 2001, "2000 characters"), ("  ", "empty")])
async def test_what_a_platform_does_not_take(text: str, reason: str) -> None:
    platform = FakePlatform()
    with pytest.raises(SendFailed, match=reason) as failure:
        await platform.sends.post(message(platform, text=text))
    assert failure.value.retry_after is None
    assert platform.from_agent == []


async def test_answers_come_in_order_and_each_once() -> None:
    platform = FakePlatform()
    said = await platform.say("ana", "question")
    for number in range(3):
        await platform.sends.post(message(platform, f"k{number}", f"answer {number}", event_id=said.event_id))
    card = Card(CardKind.SAVED, "Saved")
    await platform.sends.post(message(platform, "card", "Saved", card=card, event_id=said.event_id))
    assert [m.text for m in await platform.answers(2)] == ["answer 0", "answer 1"]
    assert [m.text for m in await platform.answers()] == ["answer 2"]
    assert [m.card for m in await platform.notices()] == [card]
    assert [m.text for m in platform.answers_to(said)] == ["answer 0", "answer 1", "answer 2"]
    assert (await platform.answer(said)).text == "answer 0"


async def test_waiting_for_an_answer_that_comes_later() -> None:
    platform = FakePlatform()
    waiting = asyncio.create_task(platform.ask("ana", "question"))
    await asyncio.sleep(0)
    await platform.sends.post(message(platform, text="answer", event_id="created:1001"))
    assert (await waiting).text == "answer"


async def test_waiting_in_vain_tells_what_was_said() -> None:
    platform = FakePlatform()
    await platform.say("ana", "anybody there?")
    with pytest.raises(NothingCame, match=r"fewer than 2 messages of the agent within 0.01 s(.|\n)*anybody there"):
        await platform.answers(2, timeout=0.01)


async def test_history_leaves_notices_out_and_shows_edits() -> None:
    platform = FakePlatform()
    said = await platform.say("ana", "tpyo")
    await platform.say("ben", "elsewhere", channel="other")
    await platform.edit(said, "typo")
    await platform.sends.post(message(platform, text="hello"))
    await platform.sends.post(message(platform, "card", "Saved", card=Card(CardKind.SAVED, "Saved")))
    _, channel = platform.place()
    history = await platform.history(channel, 10)
    assert [(m.author.display_name, m.text, m.from_agent) for m in history] == [
        ("ana", "typo", False),
        ("Isthmus", "hello", True),
    ]
    await platform.delete(said)
    assert [m.text for m in await platform.history(channel, 10)] == ["hello"]


async def test_only_who_may_be_is_pinged() -> None:
    platform = FakePlatform()
    ana, ben = platform.person("ana"), platform.person("ben")
    text = "@ana <@ben> @everyone"
    for key, mentions in [("none", ()), ("ana", (ana.key,)), ("both", (ana.key, ben.key))]:
        await platform.sends.post(message(platform, key, text, mentions=mentions))
    assert [set(platform.pinged(m)) for m in platform.from_agent] == [set(), {"ana"}, {"ana", "ben"}]
    assert platform.pinged(replace(platform.from_agent[0], allowed_mentions=None)) == {"ana", "ben", "everyone"}


async def test_a_persona_speaks_under_its_name() -> None:
    platform = FakePlatform()
    await platform.sends.post(message(platform, persona_name="Captain"))
    assert platform.from_agent[0].author.display_name == "Captain"


async def test_commands_and_stopping() -> None:
    platform = FakePlatform()
    _, host = await connected(platform)
    reply = await platform.run_command("ana", "memories", "list", page=2)
    assert reply.text == "ana ran memories list in home/general"
    assert host.ran == [(("memories", "list"), {"page": 2})]
    assert not await platform.stop_turn()
    await platform.say("ana", "hello")
    assert await platform.stop_turn()
