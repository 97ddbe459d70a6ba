"""The law of each mode, over any mix of plugins that answer, are silent, fail in any way, or are late."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from enum import Enum, auto
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent.contracts.context import ContextItem, Role, Section, Tag
from agent.contracts.memory import MemoryWritten
from agent.contracts.people import Denial, Refusal
from agent.hookspecs import HOOKS, Hold, Unavailable, hookimpl
from agent.plugin_host import HookFailed
from tests.agent.test_plugin_host import started


class Does(Enum):
    ANSWERS = auto()
    ANSWERS_LATER = auto()
    IS_SILENT = auto()
    RAISES = auto()
    RAISES_LATER = auto()
    HANGS = auto()
    CANCELS_ITSELF = auto()
    EXITS = auto()
    ANSWERS_JUNK = auto()

    @property
    def answers(self) -> bool:
        return self in {Does.ANSWERS, Does.ANSWERS_LATER}

    @property
    def fails(self) -> bool:
        return not self.answers and self is not Does.IS_SILENT


class Some:
    def __init__(self, name: str, does: Does) -> None:
        self.name = name
        self.does = does
        self.asked = 0

    async def answer(self, value: object) -> Any:
        self.asked += 1
        match self.does:
            case Does.RAISES:
                raise ValueError
            case Does.EXITS:
                raise SystemExit
            case Does.CANCELS_ITSELF:
                raise asyncio.CancelledError
            case Does.HANGS:
                await asyncio.Event().wait()
            case Does.ANSWERS_LATER | Does.RAISES_LATER:
                await asyncio.sleep(0)
        if self.does is Does.RAISES_LATER:
            raise KeyError
        if self.does is Does.ANSWERS_JUNK:
            return "junk"
        return None if self.does is Does.IS_SILENT else value

    @hookimpl
    async def context_items(self) -> Any:
        return await self.answer([ContextItem(Tag.NOW, Role.SYSTEM, Section.TAIL, self.name)])

    @hookimpl
    async def erase_person(self) -> Any:
        return await self.answer({self.name: 1})

    @hookimpl
    async def resolve_speaker(self) -> Any:
        return await self.answer(Unavailable(self.name))

    @hookimpl
    async def write_memory(self) -> Any:
        return await self.answer(MemoryWritten(self.name))

    @hookimpl
    async def guard_turn(self) -> Any:
        return await self.answer(Denial(Refusal.OTHER, self.name))


plugins = st.lists(st.sampled_from(Does), max_size=5).map(
    lambda mix: [Some(f"p{number}", does) for number, does in enumerate(mix)]
)
SHORT = dict.fromkeys(HOOKS, 0.005)


def run(given_plugins: list[Some], ask: Callable[[Any], Any]) -> Any:
    async def go() -> Any:
        host = await started(*given_plugins, deadlines=SHORT)
        try:
            return await ask(host)
        finally:
            await host.stop()
            assert asyncio.all_tasks() == {asyncio.current_task()}

    return asyncio.run(go())


@given(plugins)
def test_collect_gives_every_answer_in_order_and_leaves_out_the_rest(some: list[Some]) -> None:
    results = run(some, lambda host: host.collect_by_plugin("context_items", turn=None))
    expected = [plugin.name for plugin in some if plugin.does.answers]
    assert [name for name, _ in results] == expected
    assert [items[0].text for _, items in results] == expected
    assert [plugin.asked for plugin in some] == [1] * len(some)


@given(plugins)
def test_an_erasure_is_whole_or_raises(some: list[Some]) -> None:
    async def ask(host: Any) -> Any:
        try:
            return await host.collect("erase_person", conn=None, account=None)
        except HookFailed as error:
            return error

    result = run(some, ask)
    failing = next((plugin for plugin in some if plugin.does.fails), None)
    if failing is None:
        assert result == [{plugin.name: 1} for plugin in some if plugin.does.answers]
    else:
        assert isinstance(result, HookFailed)
        assert f"plugin {failing.name} " in str(result)


@given(plugins)
def test_first_gives_the_first_answer_and_passes_over_failures(some: list[Some]) -> None:
    result = run(some, lambda host: host.first("write_memory", write=None))
    answering = [plugin for plugin in some if plugin.does.answers]
    assert result == (MemoryWritten(answering[0].name) if answering else None)
    last = some.index(answering[0]) if answering else len(some)
    assert [plugin.asked for plugin in some] == [int(place <= last) for place in range(len(some))]


@given(plugins)
def test_who_spoke_is_unavailable_from_the_first_failure_on(some: list[Some]) -> None:
    result = run(some, lambda host: host.first("resolve_speaker", event=None, account=None))
    telling = next((plugin for plugin in some if plugin.does is not Does.IS_SILENT), None)
    if telling is None:
        assert result is None
    elif telling.does.answers:
        assert result == Unavailable(telling.name)
    else:
        assert isinstance(result, Unavailable)
        assert f"plugin {telling.name} failed" in result.reason
    assert not isinstance(result, Hold)


@given(plugins)
def test_a_guard_lets_pass_only_when_every_plugin_does(some: list[Some]) -> None:
    result = run(some, lambda host: host.guard("guard_turn", turn=None))
    refusing = next((plugin for plugin in some if plugin.does is not Does.IS_SILENT), None)
    if refusing is None:
        assert result is None
    elif refusing.does.answers:
        assert result == Denial(Refusal.OTHER, refusing.name)
    else:
        assert result is not None
        assert result.code is Refusal.GUARD_FAILED
    stop = some.index(refusing) if refusing else len(some)
    assert [plugin.asked for plugin in some] == [int(place <= stop) for place in range(len(some))]
