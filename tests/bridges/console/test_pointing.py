from datetime import UTC, datetime

from agent.bridge import HistoryMessage
from agent.commands import Command, CommandReply, GivenMessage, Invocation, Option, OptionKind
from agent.events import Author
from agent.identity.keys import ParticipantKind
from bridges.console.pointing import pointed

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ANA = Author(ParticipantKind.CONSOLE_USER, "ana", "Ana")
SAID = [HistoryMessage("m1", ANA, "hello", NOW), HistoryMessage("m2", ANA, "bye", NOW, from_agent=True)]


async def run(call: Invocation) -> CommandReply:
    return CommandReply("done")


COMMAND = Command(
    ("memories", "because"), "Why.", run, (Option("message", "Which.", OptionKind.MESSAGE), Option("text", "What."))
)


def test_an_id_becomes_the_message_of_the_channel() -> None:
    found = pointed(COMMAND, {"message": "m1", "text": "m1"}, SAID)
    assert found == {"message": GivenMessage("m1", ANA, "hello", NOW), "text": "m1"}


def test_the_last_message_has_a_word_of_its_own() -> None:
    assert pointed(COMMAND, {"message": "last"}, SAID) == {
        "message": GivenMessage("m2", ANA, "bye", NOW, from_agent=True)
    }
    assert pointed(COMMAND, {"message": "last"}, []) == {"message": "last"}


def test_an_id_that_names_no_message_stays_an_id() -> None:
    assert pointed(COMMAND, {"message": "m3"}, SAID) == {"message": "m3"}
