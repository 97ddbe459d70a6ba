from __future__ import annotations

import pytest

from agent.settings import Section
from tests.agent.settings.conftest import World


def test_variables_override_the_file_with_json_values(world: World) -> None:
    loaded = world.load(
        "[plugins.memory]\nmax_server_memories = 7\n",
        {
            "ISTHMUS__PLUGINS__MEMORY__MAX_SERVER_MEMORIES": "50",
            "ISTHMUS__PLUGINS__MEMORY__DECAY__DAYS": "3",
            "ISTHMUS__AGENT__TRIGGERS": '["hey", "you"]',
            "ISTHMUS__AGENT__DELIBERATE": "true",
            "ISTHMUS__AGENT__NAME": "Ada",
            "isthmus__agent__limits__turn_seconds": "2.5",
            "ISTHMUS_OTHER": "not ours",
        },
    )
    memory = loaded.settings.plugins["memory"].options
    assert memory["max_server_memories"] == 50
    assert memory["decay"] == {"enabled": True, "days": 3}
    agent = loaded.settings.agent
    assert (agent.triggers, agent.deliberate, agent.name) == (("hey", "you"), True, "Ada")
    assert agent.limits.turn_seconds == 2.5


@pytest.mark.parametrize("text", ["42", "true", "null", '{"a":1}', "NaN", "[", "1e5"])
def test_a_text_that_looks_like_json_stays_a_text_where_one_is_wanted(world: World, text: str) -> None:
    assert world.load(environ={"ISTHMUS__AGENT__NAME": text}).settings.agent.name == text


def test_a_numeric_secret_in_a_variable_keeps_its_digits(world: World) -> None:
    key = world.load(environ={"ISTHMUS__AGENT__API_KEY": "0012"}).settings.agent.api_key
    assert key is not None
    assert key.resolve().get_secret_value() == "0012"
    key = world.load(environ={"ISTHMUS__AGENT__API_KEY": "12"}).settings.agent.api_key
    assert key is not None
    assert key.resolve().get_secret_value() == "12"


def test_the_same_holds_in_an_extensions_own_settings(world: World) -> None:
    class Inner(Section):
        word: str = ""

    class Own(Section):
        inner: Inner = Inner()

    loaded = world.load("[plugins.own]\n", {"ISTHMUS__PLUGINS__OWN__INNER__WORD": "42"})
    own = loaded.validate_section(loaded.settings.plugins["own"], Own, "plugins.own")
    assert own.inner.word == "42"


def test_an_outer_variable_comes_before_an_inner_one(world: World) -> None:
    loaded = world.load(
        environ={
            "ISTHMUS__PLUGINS__MEMORY__DECAY__DAYS": "9",
            "ISTHMUS__PLUGINS__MEMORY__DECAY": '{"enabled": false}',
        }
    )
    assert loaded.settings.plugins["memory"].options["decay"] == {"enabled": False, "days": 9}


def test_null_takes_a_cap_away(world: World) -> None:
    text = "[agent.limits]\ndaily_spend = 1.0\n"
    assert world.load(text, {"ISTHMUS__AGENT__LIMITS__DAILY_SPEND": "null"}).settings.agent.limits.daily_spend is None


def test_keys_keep_the_spelling_of_the_file(world: World) -> None:
    loaded = world.load('[agent.costs."openai:A"]\ninput = 1.0\n', {"ISTHMUS__AGENT__COSTS__OPENAI:A__INPUT": "2"})
    assert loaded.settings.agent.costs["openai:A"].input == 2


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("ISTHMUS__AGNET__MODEL", "agnet: no such section (did you mean ISTHMUS__AGENT__MODEL?)"),
        ("ISTHMUS__AGENT__LIMIT__QUEUE", "agent.limit: no such key (did you mean ISTHMUS__AGENT__LIMITS__QUEUE?)"),
        (
            "ISTHMUS__AGENT__TOOL_CALLS",
            "agent.tool_calls: no such key (did you mean ISTHMUS__AGENT__LIMITS__TOOL_CALLS?)",
        ),
        ("ISTHMUS__ZZZZ", "zzzz: no such section"),
        ("ISTHMUS__", "expected ISTHMUS__SECTION__KEY"),
        ("ISTHMUS__AGENT____MODEL", "expected ISTHMUS__SECTION__KEY"),
    ],
)
def test_unknown_variables_are_named(world: World, name: str, line: str) -> None:
    assert world.mistakes(environ={name: "1"}) == [f"{name}: {line}"]


def test_a_wrong_value_names_its_variable_not_the_file(world: World) -> None:
    lines = world.mistakes("[agent.limits]\nqueue = 3\n", {"ISTHMUS__AGENT__LIMITS__QUEUE": "many"})
    assert lines == ['ISTHMUS__AGENT__LIMITS__QUEUE: agent.limits.queue = "many": expected a whole number']


def test_deeply_nested_json_is_a_text(world: World) -> None:
    (line,) = world.mistakes(environ={"ISTHMUS__AGENT__LIMITS": "[" * 200_000})
    assert line.endswith("expected a table")
    assert len(line) < 200
