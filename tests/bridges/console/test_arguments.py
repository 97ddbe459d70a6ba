from dataclasses import replace
from pathlib import Path

import pytest

from agent.commands import Option, OptionKind
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.terminal import Whereabouts
from bridges.console.arguments import ArgumentsRefused, find_command, read_arguments, usage
from tests.bridges.console.commands import ADD, COMMANDS, LIST, MIXED

HERE = Whereabouts("ana")


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("food I like tea", "I like tea"),
        ('food "I like tea"', "I like tea"),
        ("food it's raining", "it's raining"),
        ('food "a" and "b"', '"a" and "b"'),
        (r"food C:\temp stays", r"C:\temp stays"),
        ('food  "  spaces  "', "  spaces  "),
        ("content=tea tag=food", "tea tag=food"),
    ],
)
def test_the_last_text_takes_the_rest_of_the_line(text: str, content: str) -> None:
    if text.startswith("content="):
        with pytest.raises(ArgumentsRefused, match="missing tag"):
            read_arguments(ADD, text, HERE)
        return
    assert read_arguments(ADD, text, HERE) == {"tag": "food", "content": content}


def test_options_can_be_named() -> None:
    assert read_arguments(ADD, "tag=games content=chess at eight", HERE) == {
        "tag": "games",
        "content": "chess at eight",
    }


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a red boat", {"text": "a red boat"}),
        ("it's a boat", {"text": "it's a boat"}),
        ("page=2 a red boat", {"text": "a red boat", "page": 2}),
        ('"a red boat" 2', {"text": "a red boat", "page": 2}),
        ("text=boat 2", {"text": "boat 2"}),
    ],
)
def test_a_text_may_take_the_rest_before_what_may_be_left_out(text: str, found: dict[str, object]) -> None:
    page = Option("page", "Which.", OptionKind.INTEGER, required=False)
    search = replace(ADD, options=(Option("text", "What.", takes_rest=True), page))
    assert read_arguments(search, text, HERE) == found


def test_each_kind_is_converted() -> None:
    found = read_arguments(MIXED, '"Ana Maria" #Random yes "my notes.txt"', HERE)
    assert found == {
        "who": ParticipantKey(ParticipantKind.CONSOLE_USER, "ana maria"),
        "channel": "home/random",
        "loud": True,
        "note": Path("my notes.txt"),
    }


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("@Ben", ParticipantKey(ParticipantKind.CONSOLE_USER, "ben")),
        ("discord:12", ParticipantKey(ParticipantKind.DISCORD_USER, "12")),
        ("matrix:@ben:example.org", ParticipantKey(ParticipantKind.MATRIX_USER, "@ben:example.org")),
        ("console:ben", ParticipantKey(ParticipantKind.CONSOLE_USER, "ben")),
    ],
)
def test_a_person_is_a_name_or_an_id(text: str, key: ParticipantKey) -> None:
    assert read_arguments(MIXED, text, HERE) == {"who": key}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "missing who"),
        ("ana random maybe", "expected yes or no"),
        ('"ana', "quotation mark is not closed"),
        ("ana random yes file extra", "too many"),
        ("@", "cannot be empty"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_usage(text: str, said: str) -> None:
    with pytest.raises(ArgumentsRefused, match=said) as refused:
        read_arguments(MIXED, text, HERE)
    assert usage(MIXED) in str(refused.value)


def test_a_number_has_bounds() -> None:
    with pytest.raises(ArgumentsRefused, match="whole number"):
        read_arguments(LIST, "9" * 4000, HERE)


def test_usage_marks_what_may_be_left_out() -> None:
    assert usage(MIXED) == "/mixed WHO [CHANNEL] [LOUD] [NOTE]"


def test_a_command_is_found_whatever_the_spaces() -> None:
    assert find_command("personal   memories   add   x y", COMMANDS) == (ADD, "x y")
    assert find_command("persona", COMMANDS) is None
    assert find_command("", COMMANDS) is None
