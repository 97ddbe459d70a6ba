from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from agent.extensions.check import check_plugin, hook_arguments, optional_problem
from agent.hookspecs import HOOKS, hookimpl


class Base:
    name = "thing"


def problems(plugin: object) -> list[str]:
    return check_plugin(plugin).problems


def test_a_right_plugin_has_no_problems() -> None:
    class Right(Base):
        requires = ("memory",)
        covers = frozenset({"proxy_identity"})
        migrations = "plugins.thing.migrations"

        @hookimpl
        def start(self, core: object) -> None:
            raise NotImplementedError

        @hookimpl
        async def recall(self, query: str) -> Sequence[object]:
            raise NotImplementedError

        @hookimpl(specname="guard_turn", tryfirst=True)
        async def only_by_day(self, turn: object) -> None:
            raise NotImplementedError

        @hookimpl(optionalhook=True)
        async def a_hook_of_tomorrow(self) -> None:
            raise NotImplementedError

        def helper(self, *numbers: int) -> int:
            return sum(numbers)

    checked = check_plugin(Right())
    assert (checked.problems, checked.warnings) == ([], [])
    assert checked.hooks == {"start": "start", "recall": "recall", "guard_turn": "only_by_day"}
    assert optional_problem(checked) == (
        "cannot be optional, because it protects people (guard_turn): remove optional = true, or set enabled = false"
    )


@pytest.mark.parametrize(
    ("attributes", "says"),
    [
        ({"name": None}, "has no name: give its class a text `name`, not NoneType"),
        ({"name": "Loud"}, "its name 'Loud' must be 1 to 40 lower-case letters"),
        ({"name": "a" * 41}, "must be 1 to 40 lower-case letters"),
        ({"name": "core"}, "its name 'core' is taken by the core"),
        ({"requires": "memory"}, "its `requires` must be a tuple or set of texts"),
        ({"requires": (1,)}, "its `requires` must be a tuple or set of texts"),
        ({"covers": "proxy_identity"}, "its `covers` must be a tuple or set of texts"),
        ({"covers": {"proxy_identity"}}, "says what it `covers` but has no guard hook"),
        ({"migrations": 7}, "its `migrations` must be the name of a package"),
    ],
)
def test_wrong_attributes(attributes: dict[str, Any], says: str) -> None:
    assert says in problems(type("Wrong", (Base,), attributes)())[0]


def test_wrong_signatures() -> None:
    class Wrong(Base):
        @hookimpl
        async def recall(self, turn: object, *, query: str) -> None:
            raise NotImplementedError

        @hookimpl
        async def context_items(self, *turns: object) -> None:
            raise NotImplementedError

        @hookimpl
        async def health(self, core: object) -> None:
            raise NotImplementedError

        @hookimpl
        async def guard_turn(self, turn: object = None) -> None:
            raise NotImplementedError

        @hookimpl
        async def register_tools(self) -> Any:
            yield 1

        @hookimpl(wrapper=True)
        def stop(self) -> Any:
            yield

    assert problems(Wrong()) == [
        "method context_items takes *turns: hook context_items is called with (turn), name those that are needed",
        "method guard_turn gives 'turn' a default: hook guard_turn is called with (turn), so none is ever needed",
        "method health takes 'core': hook health is called with ()",
        "method recall takes 'query' by keyword only: hook recall is called with (turn, query), by position",
        "method register_tools is a generator: a hook returns its results, it does not yield them",
        "method stop wraps a hook: wrappers are not supported, implement the hook",
    ]


def test_one_hook_twice() -> None:
    class Twice(Base):
        @hookimpl
        def health(self) -> None:
            raise NotImplementedError

        @hookimpl(specname="health")
        def well(self) -> None:
            raise NotImplementedError

    assert problems(Twice()) == ["methods health and well both implement hook health"]


def test_an_unmarked_near_miss_is_worth_a_warning_and_properties_are_left_alone() -> None:
    class Near(Base):
        def register_tool(self) -> None:
            raise NotImplementedError

        @property
        def context_item(self) -> object:
            raise AssertionError("a property was asked")

    checked = check_plugin(Near())
    assert checked.problems == []
    assert optional_problem(checked) is None
    assert checked.warnings == [
        "method register_tool is not marked @hookimpl and is never called: was hook register_tools meant?"
    ]


@pytest.mark.parametrize("hook", HOOKS)
def test_each_hook_is_known_with_its_arguments(hook: str) -> None:
    arguments = hook_arguments(hook)
    method = f"async def {hook}(self, {', '.join(arguments)}): return None"
    written: dict[str, Any] = {}
    exec(method, written)  # noqa: S102 - a method of each signature
    plugin = type("Plugin", (Base,), {hook: hookimpl(written[hook])})()
    checked = check_plugin(plugin)
    assert (checked.problems, list(checked.hooks)) == ([], [hook])
