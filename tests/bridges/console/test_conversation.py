from collections.abc import AsyncGenerator

from agent.store.errors import DatabaseUnavailable
from bridges.console.chat import say_script
from bridges.console.conversation import Conversation, help_text
from tests.bridges.console.commands import COMMANDS
from tests.bridges.console.host import RecordingHost, RecordingScreen


async def lines(*texts: str) -> AsyncGenerator[str]:
    for text in texts:
        yield text


async def test_a_script_is_said_line_by_line(
    conversation: Conversation, host: RecordingHost, screen: RecordingScreen
) -> None:
    script = ("# begin", "ana: hello", "", "/as ben", "/channel random", "hi", "/nonsense", "/personal memories")
    await say_script(conversation, host, lines(*script))
    assert [(event.author.external_id, event.channel.name, event.text) for event in host.messages] == [
        ("ana", "general", "hello"),
        ("ben", "random", "hi"),
    ]
    assert host.idled_after == [0, 1, 1, 1, 1, 2, 2, 2]
    assert [record.type.value for record in screen.records] == ["message", "message", "error", "message", "reply"]
    assert screen.records[2].text.startswith("line 7: no command /nonsense")
    assert conversation.bridge.failures == 1


async def test_quit_ends_a_script(conversation: Conversation, host: RecordingHost) -> None:
    await say_script(conversation, host, lines("one", "/quit", "two"))
    assert [event.text for event in host.messages] == ["one"]


async def test_a_person_once_met_is_known_by_a_long_name(conversation: Conversation, host: RecordingHost) -> None:
    await say_script(conversation, host, lines("/as Sam the Great", "hi", "/as ana", "sam the great: again"))
    assert [event.author.external_id for event in host.messages] == ["sam the great", "sam the great"]


async def test_help_is_a_notice(conversation: Conversation, screen: RecordingScreen) -> None:
    assert await conversation.take("/help")
    (record,) = screen.records
    assert record.type.value == "notice"
    assert "/personal memories add TAG CONTENT" in record.text


async def test_a_database_that_is_away_ends_no_conversation(
    conversation: Conversation, host: RecordingHost, screen: RecordingScreen
) -> None:
    host.away = DatabaseUnavailable("gone")
    assert await conversation.take("hello")
    host.away = None
    assert await conversation.take("hello again")
    assert screen.shown[1] == ("error", "root", "this could not be taken: gone")
    assert [event.text for event in host.messages] == ["hello again"]


def test_the_help_names_every_command() -> None:
    text = help_text(COMMANDS)
    for name in ("/as NAME", "/server NAME", "/channel NAME", "/thread [NAME]", "/dm", "/stop", "/help", "/quit"):
        assert name in text
    assert "/mixed WHO" in text
