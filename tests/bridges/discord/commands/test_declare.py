from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.commands import Command, CommandReply, Invocation, Option, OptionKind, Rights
from bridges.discord.commands.declare import DoesNotFit, declare, discord_locale


async def run(call: Invocation) -> CommandReply:
    return CommandReply("done")


def command(*path: str, rights: Rights = Rights.EVERYONE, menu: str | None = None, **more: Any) -> Command:
    return Command(path, "What it does.", run, rights=rights, menu=menu, owner="trial", **more)


def declared(*commands: Command) -> Mapping[str, Any]:
    return {payload["name"]: payload for payload in declare(commands, ["en"]).payloads}


def test_commands_with_a_common_beginning_become_groups() -> None:
    payloads = declared(command("a", "b", "c"), command("a", "d"), command("e"))
    assert [each["name"] for each in payloads["a"]["options"]] == ["b", "d"]
    assert [each["type"] for each in payloads["a"]["options"]] == [2, 1]
    assert [each["type"] for each in payloads["a"]["options"][0]["options"]] == [1]
    assert payloads["e"]["options"] == []
    assert payloads["e"]["contexts"] == [0, 1]


def test_required_options_stand_first_and_long_ones_may_be_left_out() -> None:
    options = (
        Option("page", "Page.", OptionKind.INTEGER, required=False),
        Option("text", "Text.", long=True),
        Option("id", "Id.", OptionKind.INTEGER),
    )
    made = declared(command("a", options=options))["a"]["options"]
    assert [(each["name"], each["type"], each["required"]) for each in made] == [
        ("id", 4, True),
        ("page", 4, False),
        ("text", 3, False),
    ]


def test_only_roots_that_are_all_for_managers_are_fenced() -> None:
    payloads = declared(
        command("a", "b", rights=Rights.MANAGE), command("a", "c"), command("d", "e", rights=Rights.MANAGE)
    )
    assert payloads["a"]["default_member_permissions"] is None
    assert payloads["d"]["default_member_permissions"] == "32"


def test_descriptions_are_translated_and_cut() -> None:
    told = Command(("a",), "Forget what I know about this server." * 9, run)
    known = Command(("stop",), "Stop the answer that is being written here, and what waits for one.", run)
    cut, stop = declare([told, known]).payloads
    assert len(cut["description"]) == 100
    assert "description_localizations" not in cut
    assert set(stop["description_localizations"]) == {"de"}


def test_languages_have_discords_names() -> None:
    assert [discord_locale(each) for each in ("de", "pt_BR", "pt", "es", "en", "tlh")] == [
        "de",
        "pt-BR",
        "pt-BR",
        "es-ES",
        None,
        None,
    ]


PERSON = (Option("who", "Whom.", OptionKind.PERSON),)


@pytest.mark.parametrize(
    ("commands", "problem"),
    [
        ([command("a", "b", "c", "d")], "/a b c d of trial has 4 words; Discord takes 3"),
        ([command("A")], "/A of trial: 'A' is no name that Discord takes"),
        ([command("a" * 33)], "is no name that Discord takes"),
        ([command("a", options=(Option("two words", "."),))], "'two words' is no name"),
        ([command("a", options=tuple(Option(f"o{n}", ".") for n in range(26)))], "has 26 options; Discord takes 25"),
        ([command("a", f"b{n:02}") for n in range(27)], "/a has 27 commands below it; Discord takes 25: leave out b25"),
        ([command(f"a{n:03}") for n in range(101)], "101 commands are more than the 100 that Discord takes: a100"),
        ([command("a", menu="x" * 33, options=PERSON)], "is longer than 32 characters"),
        (
            [command(name, menu="Ask", options=PERSON) for name in ("a", "b")],
            "the menu entry 'Ask' is registered twice",
        ),
        (
            [command(f"a{n}", menu=f"Ask {n}", options=PERSON) for n in range(6)],
            "6 menu entries of people are more than the 5 that Discord takes: Ask 5",
        ),
        (
            [command("a", f"b{n}", options=tuple(Option(f"o{n}", "x" * 100) for n in range(25))) for n in range(4)],
            "/a has 10",
        ),
    ],
)  # fmt: skip
def test_what_discord_does_not_take_is_named(commands: list[Command], problem: str) -> None:
    with pytest.raises(DoesNotFit) as error:
        declare(commands, ["en"])
    assert problem in str(error.value)


WORDS = st.text("abcdefgh-_1", min_size=1, max_size=5)


@given(st.sets(st.lists(WORDS, min_size=1, max_size=3).map(tuple), min_size=1, max_size=10), st.randoms())
def test_the_order_of_commands_makes_no_difference(found: set[tuple[str, ...]], random: Any) -> None:
    alone = [path for path in found if not any(path != other and path[: len(other)] == other for other in found)]
    commands = [command(*path) for path in alone]
    first = declare(commands, ["en"])
    random.shuffle(commands)
    assert declare(commands, ["en"]) == first
    assert sum(leaves(payload) for payload in first.payloads) == len(alone)


def leaves(payload: Mapping[str, Any]) -> int:
    below = [each for each in payload.get("options") or () if each["type"] in {1, 2}]
    return sum(map(leaves, below)) if below else 1
