import importlib

import pytest

from agent.explained import KNOWN, explain
from agent.settings import Origin, Problem, SettingsError
from agent.store.errors import DatabaseNewer


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_each_known_error_is_named_where_it_is_defined(name: str) -> None:
    module, _, kind = name.rpartition(".")
    found = getattr(importlib.import_module(module), kind)
    assert issubclass(found, Exception)
    assert f"{found.__module__}.{found.__qualname__}" == name


def test_an_error_of_ours_is_said_line_by_line() -> None:
    problems = [
        Problem(Origin("p.toml", 3), "agent.foo", "no such key"),
        Problem(Origin("p.toml"), "", "x"),
    ]
    assert explain(SettingsError(problems)) == ("p.toml:3: agent.foo: no such key", "p.toml: x")


def test_a_subclass_is_known_too() -> None:
    assert explain(DatabaseNewer("install the newer version")) == ("install the newer version",)


def test_everything_else_is_a_fault() -> None:
    assert explain(ValueError("secret")) is None
