from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from agent.settings import Origins, Problem, Secret, Section, SettingsError, load_settings, validate_section
from agent.settings.fields import is_secret
from agent.settings.validate import MAX_SHOWN, nearest, shown


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Rule(Section):
    pattern: str
    weight: float = 1.0


class Loose(BaseModel):
    """A model of an author who did not think of unknown keys."""

    inner: Rule | None = None
    count: int = 0


class Everything(Section):
    rules: tuple[Rule, ...] = Field(default=(), strict=False)
    by_name: dict[str, Rule] = Field(default_factory=dict)
    loose: Loose = Loose()
    colour: Colour = Field(default=Colour.RED, strict=False)
    mode: Literal["fast", "slow"] | int = "fast"
    spaced: Annotated[str, Field(alias="Spaced-Name")] = ""
    even: int = 0
    code: SecretStr | None = None
    secrets: dict[str, Secret] = Field(default_factory=dict)

    @field_validator("even")
    @classmethod
    def _even(cls, value: int) -> int:
        if value % 2:
            raise ValueError("expected an even number")
        return value


def mistakes(section: dict[str, Any], model: type[BaseModel] = Everything) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        validate_section(section, model, "plugins.x", Origins("p.toml", {("plugins", "x"): 4}))
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("section", "line"),
    [
        (
            {"rules": [{"pattern": "a"}, {"patern": "b"}]},
            "plugins.x.rules[1].patern: no such key (did you mean pattern?)",
        ),
        ({"by_name": {"a": {"pattern": 1}}}, "plugins.x.by_name.a.pattern = 1: expected a text in quotes"),
        ({"by_name": {"a": {}}}, "plugins.x.by_name.a.pattern: is required but missing"),
        ({"by_name": {"a": {"pattern": "", "wait": 1}}}, "plugins.x.by_name.a.wait: no such key"),
        ({"loose": {"cuont": 1}}, "plugins.x.loose.cuont: no such key (did you mean count?)"),
        (
            {"loose": {"inner": {"pattern": "", "wieght": 1}}},
            "plugins.x.loose.inner.wieght: no such key (did you mean weight?)",
        ),
        ({"loose": []}, "plugins.x.loose = a list: expected a table"),
        ({"colour": "rde"}, "plugins.x.colour = \"rde\": expected one of 'red' or 'blue' (did you mean red?)"),
        ({"mode": "fsat"}, "plugins.x.mode = \"fsat\": expected one of 'fast' or 'slow' (did you mean fast?)"),
        ({"Spaced-Nme": ""}, "plugins.x.Spaced-Nme: no such key (did you mean Spaced-Name?)"),
        ({"even": 3}, "plugins.x.even = 3: expected an even number"),
        ({"code": 3}, "plugins.x.code = **********: expected a text in quotes"),
        ({"secrets": {"a": 3}}, "plugins.x.secrets.a = **********: expected a text in quotes"),
        ({"pattern": ""}, "plugins.x.pattern: no such key (did you mean loose.inner.pattern?)"),
    ],
)
def test_mistakes_of_an_extensions_own_settings(section: dict[str, Any], line: str) -> None:
    found = mistakes(section)
    assert f"p.toml:4: {line}" in found
    assert len(found) <= 2


def test_sound_settings() -> None:
    section = {
        "rules": [{"pattern": "a", "weight": 2}],
        "by_name": {"x": {"pattern": "b"}},
        "loose": {"inner": {"pattern": "c"}, "count": 3},
        "colour": "blue",
        "mode": 3,
        "Spaced-Name": "s",
        "secrets": {"k": "env:K"},
    }
    value = validate_section(section, Everything, "plugins.x")
    assert value.rules == (Rule(pattern="a", weight=2),)
    assert value.loose.inner == Rule(pattern="c")
    assert (value.colour, value.mode, value.spaced) == (Colour.BLUE, 3, "s")
    assert value.secrets["k"] == Secret.parse("env:K")


def test_a_model_may_allow_other_keys() -> None:
    class Open(BaseModel):
        model_config = ConfigDict(extra="allow")

    assert validate_section({"any": 1}, Open, "plugins.x").model_extra == {"any": 1}


def test_without_origins_the_key_alone_is_named() -> None:
    with pytest.raises(SettingsError, match=r"^built-in defaults: plugins\.x\.even = 3: expected an even number$"):
        validate_section({"even": 3}, Everything, "plugins.x")


def test_errors_of_several_extensions_merge() -> None:
    errors = []
    for name in ("a", "b"):
        with pytest.raises(SettingsError) as caught:
            validate_section({"even": 3}, Everything, f"plugins.{name}")
        errors.append(caught.value)
    assert [problem.key for problem in SettingsError.merged(errors).problems] == ["plugins.a.even", "plugins.b.even"]


def test_values_are_shown_short_and_on_one_line() -> None:
    assert shown(("a",), "x" * 1_000_000) == '"' + "x" * MAX_SHOWN + '…"'.replace("…", "\\u2026")
    assert shown(("a",), "a\nb\x1b") == '"a\\nb\\u001b"'
    assert shown(("a",), {"b": 1}) == "a table"
    assert shown(("bot_token",), "x") == shown(("a",), "x", secret=True) == "**********"
    assert shown(("a",), "http://u:p@h") == '"http://**********@h"'


def test_nearest_names() -> None:
    assert nearest("MODEL", ["model", "name"]) == "model"
    assert nearest("mdoel", ["model", "name"]) == "model"
    assert nearest("zzz", ["model", "name"]) is None
    assert nearest("x", []) is None


def test_secrets_are_known_by_their_type() -> None:
    assert is_secret(Everything, ("code",))
    assert is_secret(Everything, ("secrets", "any"))
    assert not is_secret(Everything, ("rules", 0, "pattern"))
    assert not is_secret(Everything, ("nothing", "there"))


_KEYS = st.sampled_from(
    ["agent", "database", "plugins", "bridges", "memory", "model", "limits", "queue", "url", "costs"]
)
_NAMES = _KEYS | st.text('abc-._"\\ \n', max_size=4)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["env:A", "file:"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=4),
    max_leaves=12,
)


@given(
    st.dictionaries(_KEYS.map(str.upper), _VALUES, max_size=4),
    st.dictionaries(_KEYS, st.text(max_size=6), max_size=3),
)
def test_whatever_comes_there_are_settings_or_problems(sections: dict[str, Any], deeper: dict[str, str]) -> None:
    environ = {f"ISTHMUS__{name}": json.dumps(value) for name, value in sections.items()}
    environ |= {f"ISTHMUS__AGENT__{name.upper()}": value for name, value in deeper.items()}
    directory = Path("/nonexistent")
    problems: tuple[Problem, ...] | None = None
    try:
        load_settings(None, environ, directory, directory, section_model=lambda *_: Everything)
    except SettingsError as error:
        problems = error.problems
    assert problems != ()
    assert all("\n" not in str(problem) for problem in problems or ())
