from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.bridge import OutgoingMessage, Sent
from agent.commands import Command, CommandReply, GivenMessage, Option, OptionKind
from agent.contracts.cards import Card, CardKind
from agent.files import LocalFile, ReplyFile
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.terminal import Whereabouts
from agent.trace import Trace, TraceKind
from bridges.console.bridge import ConsoleBridge, ConsoleSettings
from bridges.console.lines import Run
from bridges.console.transcript import RecordType
from tests.bridges.console.commands import MIXED
from tests.bridges.console.host import RecordingHost, RecordingScreen

HERE = Whereabouts("Ana")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def outgoing(key: str, text: str = "hi", where: Whereabouts = HERE) -> OutgoingMessage:
    return OutgoingMessage(key, "console", where.channel_ref, where.server_ref, text, event_id="e1")


async def test_what_is_said_becomes_one_event(bridge: ConsoleBridge, host: RecordingHost) -> None:
    await bridge.say(HERE.in_thread("plans"), "hello\x00 there\x1b[2J")
    (event,) = host.messages
    assert event.text == "hello there[2J"
    assert event.platform == "console"
    assert event.event_id == event.message_id
    assert event.author.key == ParticipantKey(ParticipantKind.CONSOLE_USER, "ana")
    assert event.author.can_manage
    assert event.channel.parent_external_id == "home/general"
    assert event.mentions_agent


async def test_no_two_events_share_an_id(bridge: ConsoleBridge, host: RecordingHost) -> None:
    for _ in range(50):
        await bridge.say(HERE, "again")
    assert len({event.event_id for event in host.messages}) == 50


async def test_a_busy_channel_can_be_played(host: RecordingHost) -> None:
    bridge = ConsoleBridge(ConsoleSettings(answer_everything=False))
    await bridge.start(host)
    await bridge.say(HERE, "to nobody")
    await bridge.say(HERE.in_direct(), "to the agent")
    assert [event.mentions_agent for event in host.messages] == [False, True]


async def test_people_who_have_spoken_can_be_mentioned(bridge: ConsoleBridge, host: RecordingHost) -> None:
    await bridge.say(HERE.spoken_by("Ben"), "hi")
    await bridge.say(HERE, "ask @Ben, @ben and @nobody, not mail@ben")
    assert host.messages[-1].mentions == (ParticipantKey(ParticipantKind.CONSOLE_USER, "ben"),)


async def test_one_key_is_shown_once(bridge: ConsoleBridge, screen: RecordingScreen) -> None:
    first = await bridge.send(outgoing("k1"))
    again = await bridge.send(outgoing("k1"))
    other = await bridge.send(outgoing("k2"))
    assert first == again != other
    assert screen.shown == [("reply", "Isthmus", "hi"), ("reply", "Isthmus", "hi")]


async def test_what_was_sent_can_be_found(bridge: ConsoleBridge) -> None:
    sent = await bridge.send(outgoing("k1"))
    assert isinstance(sent, Sent)
    assert await bridge.find_sent(outgoing("k1")) == sent
    assert await bridge.find_sent(outgoing("k2")) is None


async def test_a_card_is_a_notice_with_its_memory(bridge: ConsoleBridge, screen: RecordingScreen) -> None:
    card = Card(CardKind.SAVED, "Saved", ("game night",), memory_id=7, about="home")
    await bridge.send(replace(outgoing("k1"), card=card))
    (record,) = screen.records
    assert (record.type, record.text, record.card) == (RecordType.NOTICE, "Saved\ngame night", card)
    assert record.data["memory_id"] == 7
    assert record.data["about"] == "home"


async def test_a_mention_shows_the_name(bridge: ConsoleBridge, screen: RecordingScreen) -> None:
    await bridge.say(HERE, "hi")
    ana = ParticipantKey(ParticipantKind.CONSOLE_USER, "ana")
    await bridge.send(replace(outgoing("k1"), text="hello <@ana> and <@ben>", mentions=(ana,)))
    assert screen.shown[-1] == ("reply", "Isthmus", "hello @Ana and <@ben>")


async def test_another_persona_speaks_under_its_own_name(bridge: ConsoleBridge, screen: RecordingScreen) -> None:
    await bridge.send(replace(outgoing("k1"), persona_name="Mira"))
    assert screen.shown == [("reply", "Mira", "hi")]


async def test_history_is_that_of_the_channel_in_order(bridge: ConsoleBridge) -> None:
    await bridge.say(HERE, "one")
    await bridge.send(outgoing("k1", "two"))
    await bridge.say(HERE.in_channel("random"), "elsewhere")
    await bridge.say(HERE, "three")
    found = await bridge.history(HERE.server_ref, HERE.channel_ref, 10)
    assert [(each.text, each.from_agent) for each in found] == [("one", False), ("two", True), ("three", False)]
    last = await bridge.history(HERE.server_ref, HERE.channel_ref, 1)
    assert [each.text for each in last] == ["three"]
    assert await bridge.history(HERE.server_ref, HERE.channel_ref, 0) == ()


async def test_history_is_bounded(host: RecordingHost) -> None:
    bridge = ConsoleBridge(ConsoleSettings(history=3))
    await bridge.start(host)
    for number in range(10):
        await bridge.say(HERE, str(number))
    found = await bridge.history(HERE.server_ref, HERE.channel_ref, 100)
    assert [each.text for each in found] == ["7", "8", "9"]


async def test_what_is_watched_of_a_turn_is_shown_where_it_happens(
    bridge: ConsoleBridge, host: RecordingHost, screen: RecordingScreen
) -> None:
    await bridge.say(HERE.in_channel("random"), "hi")
    event_id = host.messages[0].event_id
    bridge.watch(Trace(TraceKind.TOOL_CALL, "t", event_id, NOON, {"name": "save", "arguments": {"a": 1}}))
    bridge.watch(Trace(TraceKind.TOOL_RESULT, "t", event_id, NOON, {"name": "save", "result": {"status": "ok"}}))
    bridge.watch(Trace(TraceKind.OUTCOME, "t", event_id, NOON, {"outcome": "answered"}))
    bridge.watch(Trace(TraceKind.TOOL_CALL, "t", "unknown", NOON, {"name": "save"}))
    assert bridge.failures == 0
    bridge.watch(Trace(TraceKind.ERROR, "t", event_id, NOON, {"text": "sorry", "error_id": "x1"}))
    assert bridge.failures == 1
    shown = [(record.type.value, record.channel.name, record.text) for record in screen.records]
    assert shown == [
        ("message", "random", "hi"),
        ("tool_call", "random", "save"),
        ("tool_result", "random", "save"),
        ("error", "random", "sorry"),
    ]
    assert screen.records[1].data["arguments"] == {"a": 1}
    assert screen.records[1].time == NOON


async def test_a_command_runs_for_who_speaks_where_they_are(
    bridge: ConsoleBridge, host: RecordingHost, screen: RecordingScreen
) -> None:
    run = Run(HERE, "/mixed ben", MIXED, {"who": ParticipantKey(ParticipantKind.CONSOLE_USER, "ben")})
    await bridge.run(run)
    ((path, options, server, channel, author),) = host.ran
    assert (path, server, channel, author) == (("mixed",), HERE.server_ref, HERE.channel_ref, HERE.author)
    assert options == {"who": ParticipantKey(ParticipantKind.CONSOLE_USER, "ben")}
    assert screen.shown == [("message", "Ana", "/mixed ben"), ("reply", "Isthmus", "done")]
    assert screen.records[1].data == {"command": ["mixed"], "private": False, "count": 1}


async def test_a_command_that_fails_is_an_error(
    bridge: ConsoleBridge, host: RecordingHost, screen: RecordingScreen
) -> None:
    host.reply = CommandReply("you may not", ok=False)
    await bridge.run(Run(HERE, "/mixed", MIXED, {}))
    assert screen.shown[-1] == ("error", "Isthmus", "you may not")
    assert bridge.failures == 1


async def test_a_file_is_handed_over_as_one_that_can_be_read(
    bridge: ConsoleBridge, host: RecordingHost, tmp_path: Path
) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("twelve bytes")
    await bridge.run(Run(HERE, "/mixed", MIXED, {"note": path}))
    given = host.ran[0][1]["note"]
    assert isinstance(given, LocalFile)
    assert (given.name, await given.read(12)) == ("notes.txt", b"twelve bytes")


async def test_a_command_gets_the_message_that_is_named(bridge: ConsoleBridge, host: RecordingHost) -> None:
    message_id = await bridge.say(HERE, "the gate is green")
    command = Command(("why",), "Why.", MIXED.run, (Option("message", "Which.", OptionKind.MESSAGE),))
    for word in (message_id, "last"):
        await bridge.run(Run(HERE, f"/why {word}", command, {"message": word}))
        given = host.ran[-1][1]["message"]
        assert isinstance(given, GivenMessage)
        assert (given.message_id, given.text, given.author) == (message_id, "the gate is green", HERE.author)


async def test_a_file_that_a_command_gives_is_shown(
    bridge: ConsoleBridge, host: RecordingHost, screen: RecordingScreen
) -> None:
    host.reply = CommandReply("Here it is.", file=ReplyFile("book.json", b'{"a": 1}'))
    await bridge.run(Run(HERE, "/mixed", MIXED, {}))
    assert screen.shown[-1] == ("reply", "Isthmus", 'Here it is.\n{"a": 1}')
    assert screen.records[-1].data["file"] == {"name": "book.json", "content": '{"a": 1}'}


@pytest.mark.parametrize("name", ["missing.txt", "", "nul\x00byte"])
async def test_a_file_that_is_not_there_is_refused(
    bridge: ConsoleBridge, host: RecordingHost, screen: RecordingScreen, tmp_path: Path, name: str
) -> None:
    await bridge.run(Run(HERE, "/mixed", MIXED, {"note": tmp_path / name}))
    assert host.ran == []
    assert screen.records[-1].type is RecordType.ERROR


async def test_typing_is_shown(bridge: ConsoleBridge, screen: RecordingScreen) -> None:
    await bridge.typing(HERE.channel_ref)
    assert screen.writing == ["home/general"]


async def test_nothing_can_be_said_before_the_start() -> None:
    with pytest.raises(RuntimeError, match="not been started"):
        await ConsoleBridge().say(HERE, "hi")


def test_any_number_of_terminals_may_talk() -> None:
    assert ConsoleBridge().identity() == ""
