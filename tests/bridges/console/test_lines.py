import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.terminal import Whereabouts
from bridges.console.lines import LineRefused, Local, Move, Nothing, Run, Say, parse_line
from tests.bridges.console.commands import ADD, COMMANDS, LIST, SERVER, STOP

HERE = Whereabouts("root")


@pytest.mark.parametrize("line", ["", "   ", "\t", "# a comment", "  # indented"])
def test_lines_that_say_nothing(line: str) -> None:
    assert parse_line(line, HERE) == Nothing()


@pytest.mark.parametrize(
    ("line", "speaker", "text"),
    [
        ("ana: hello", "ana", "hello"),
        ("Ana: hello: again", "Ana", "hello: again"),
        ("Ana Maria: hello", "Ana Maria", "hello"),
        ("ben2: hi", "ben2", "hi"),
        ("Zoë: hi", "Zoë", "hi"),
        ("李: hi", "李", "hi"),
        ("just a message", "root", "just a message"),
        ("see http://example.org: nice", "root", "see http://example.org: nice"),
        ("https://example.org", "root", "https://example.org"),
        ("http: is a protocol", "root", "http: is a protocol"),
        ("at 12:30 we start", "root", "at 12:30 we start"),
        ("remember this: tea at five", "root", "remember this: tea at five"),
        ("ana:hello", "root", "ana:hello"),
        ("ana:", "root", "ana:"),
        (": hello", "root", ": hello"),
        ("x" * 33 + ": hello", "root", "x" * 33 + ": hello"),
        ("ana: /help", "ana", "/help"),
        ("\\ana: hello", "root", "ana: hello"),
        ("\\/help", "root", "/help"),
        ("\\# hash", "root", "# hash"),
        ("\\o/", "root", "\\o/"),
    ],
)
def test_who_says_what(line: str, speaker: str, text: str) -> None:
    assert parse_line(line, HERE) == Say(HERE.spoken_by(speaker), text)


def test_a_known_person_may_have_a_name_that_looks_like_a_sentence() -> None:
    assert parse_line("sam the great: hi", HERE) == Say(HERE, "sam the great: hi")
    said = parse_line("Sam the Great: hi", HERE, known={"sam the great"})
    assert said == Say(HERE.spoken_by("Sam the Great"), "hi")


@pytest.mark.parametrize(
    ("line", "where"),
    [
        ("/as ana", HERE.spoken_by("ana")),
        ("/AS Ana Maria", HERE.spoken_by("Ana Maria")),
        ("/server work", HERE.in_server("work")),
        ("/channel #random", HERE.in_channel("random")),
        ("/thread plans for may", HERE.in_thread("plans for may")),
        ("/dm", HERE.in_direct()),
    ],
)
def test_moves(line: str, where: Whereabouts) -> None:
    assert parse_line(line, HERE, COMMANDS) == Move(where)


def test_a_thread_is_left_by_naming_none() -> None:
    assert parse_line("/thread", HERE.in_thread("plans")) == Move(HERE)


@pytest.mark.parametrize(
    ("line", "action"),
    [
        ("/help", Local.HELP),
        ("/?", Local.HELP),
        ("/quit", Local.QUIT),
        ("/exit", Local.QUIT),
    ],
)
def test_commands_of_the_terminal(line: str, action: Local) -> None:
    assert parse_line(line, HERE, COMMANDS) is action


def test_a_plugin_command_wins_where_its_whole_path_is_typed() -> None:
    assert parse_line("/server memories", HERE, COMMANDS) == Run(HERE, "/server memories", SERVER, {})
    assert parse_line("/server memory lane", HERE, COMMANDS) == Move(HERE.in_server("memory lane"))


def test_a_command_of_the_core_is_run_by_the_core() -> None:
    assert parse_line("/stop", HERE, COMMANDS) == Run(HERE, "/stop", STOP, {})


def test_the_longest_path_wins() -> None:
    run = parse_line("/personal memories add food I like tea", HERE, COMMANDS)
    assert isinstance(run, Run)
    assert (run.command, run.options) == (ADD, {"tag": "food", "content": "I like tea"})
    run = parse_line("/personal memories 2", HERE, COMMANDS)
    assert isinstance(run, Run)
    assert (run.command, run.options) == (LIST, {"page": 2})


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/hlep", "did you mean /help"),
        ("/", "no command /"),
        ("/as", "usage: /as NAME"),
        ("/server", "usage: /server NAME"),
        ("/server a/b", "cannot hold"),
        ("/personal", "/personal memories add"),
        ("/personal memories add", "missing tag, content"),
        ("/personal memories add drink tea", "expected one of food, games"),
        ("/personal memories two", "whole number"),
        ("/personal memories 1 2", "too many arguments"),
    ],
)
def test_lines_that_mean_nothing_say_what_would_be_right(line: str, said: str) -> None:
    with pytest.raises(LineRefused, match=said):
        parse_line(line, HERE, COMMANDS)


def test_there_are_no_threads_in_a_direct_conversation() -> None:
    with pytest.raises(LineRefused, match="no threads"):
        parse_line("/thread plans", HERE.in_direct())


@given(st.text())
def test_any_line_is_read_or_refused(line: str) -> None:
    try:
        action = parse_line(line, HERE, COMMANDS, {"ana"})
    except LineRefused:
        return
    if isinstance(action, Say):
        assert action.text.strip()
        assert action.text in line
