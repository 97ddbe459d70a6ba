from __future__ import annotations

import asyncio
import importlib
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agent.clock import RandomIds, SystemClock
from agent.contracts.context import ContextItem, Role, Section, Tag
from agent.contracts.people import Denial, Refusal
from agent.core import Core
from agent.hookspecs import HOOKS, Mode, Unavailable, hookimpl
from agent.plugin_host import HookFailed, PluginHost, PluginsRefused, PluginStartFailed, State

ITEM = ContextItem(Tag.PLACE, Role.SYSTEM, Section.PREFIX, "here")
REFUSED = Denial(Refusal.OTHER, "no")
BAD = (
    "raises",
    "hangs",
    "swallows_cancellation",
    pytest.param(
        "swallows_everything",
        # Python itself complains of a coroutine that cannot even be closed.
        marks=pytest.mark.filterwarnings("ignore:.*coroutine:pytest.PytestUnraisableExceptionWarning"),
    ),
    "exits",
    "interrupts",
    "cancels_itself",
    "raises_cancelled",
    "returns_junk",
)
SHORT = dict.fromkeys(HOOKS, 0.02)
OF_MODE = {mode: [name for name, hook in HOOKS.items() if hook.mode is mode] for mode in Mode}


def bad(name: str, spared: tuple[str, ...] = ("start", "stop")) -> Any:
    plugin = importlib.import_module(f"tests.bad_plugins.{name}").Plugin
    return plugin(plugin.Settings(spared=list(spared)))


def values(hook: str) -> dict[str, Any]:
    from agent.extensions.check import hook_arguments

    return dict.fromkeys(hook_arguments(hook))


class Good:
    """Answers what it is given."""

    def __init__(self, name: str = "good", *, items: Any = (ITEM,), denial: Denial | None = None) -> None:
        self.name = name
        self.items = items
        self.denial = denial
        self.asked = 0

    @hookimpl
    def context_items(self) -> Any:
        self.asked += 1
        return self.items

    @hookimpl
    async def guard_turn(self, turn: Any) -> Denial | None:
        self.asked += 1
        return self.denial


async def started(*plugins: Any, **options: Any) -> PluginHost:
    host = PluginHost(plugins, **options)
    await host.start(core(host))
    return host


def core(host: PluginHost) -> Core:
    clock = SystemClock()
    return cast("Core", SimpleNamespace(clock=clock, ids=RandomIds(clock), hooks=host))


async def test_results_come_in_the_order_of_the_file() -> None:
    host = await started(*(Good(name, items=[ITEM] * n) for n, name in enumerate(("z", "a", "m"))))
    found = await host.collect_by_plugin("context_items", turn=None)
    assert found == [("z", ()), ("a", (ITEM,)), ("m", (ITEM, ITEM))]


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("hook", [hook for hook in OF_MODE[Mode.COLLECT] if hook != "erase_person"])
async def test_a_bad_plugin_is_left_out(name: str, hook: str) -> None:
    host = await started(bad(name), Good(), deadlines=SHORT)
    results = await host.collect(hook, **values(hook))
    assert results == ([(ITEM,)] if hook == "context_items" else [])
    await host.stop()


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("hook", OF_MODE[Mode.GUARD])
async def test_a_bad_guard_has_denied(name: str, hook: str) -> None:
    host = await started(bad(name), deadlines=SHORT)
    denial = await host.guard(hook, **values(hook))
    assert denial is not None
    assert denial.code is Refusal.GUARD_FAILED
    await host.stop()


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_plugin_makes_who_spoke_unavailable(name: str) -> None:
    host = await started(bad(name), deadlines=SHORT)
    assert isinstance(await host.first("resolve_speaker", event=None, account=None), Unavailable)
    assert await host.first("write_memory", write=None) is None
    await host.stop()


@pytest.mark.parametrize("name", BAD)
async def test_a_failing_part_of_an_erasure_raises(name: str) -> None:
    host = await started(bad(name), deadlines=SHORT)
    with pytest.raises(HookFailed, match=f"plugin {name} failed in erase_person"):
        await host.collect("erase_person", conn=None, account=None)
    await host.stop()


@pytest.mark.parametrize("name", BAD)
async def test_a_plugin_that_does_not_start_stops_the_start_with_one_line(name: str) -> None:
    before, after = Good("before"), Good("after")
    host = PluginHost([before, bad(name, spared=()), after], deadlines=SHORT)
    with pytest.raises(PluginStartFailed) as caught:
        await host.start(core(host))
    assert str(caught.value).startswith(f"plugin {name} could not be started: ")
    assert str(caught.value).endswith(f"set enabled = false in [plugins.{name}]")
    assert "\n" not in str(caught.value)
    assert [status.state for status in host.plugins] == [State.STOPPED, State.FAILED, State.LOADED]


@pytest.mark.parametrize("name", BAD)
async def test_a_plugin_that_does_not_stop_keeps_nobody(name: str) -> None:
    host = await started(Good("first"), bad(name, spared=("start",)), deadlines=SHORT)
    await host.stop()
    assert [status.state for status in host.plugins] == [State.STOPPED, State.STOPPED]


async def test_cancellation_of_the_caller_passes_through_and_reaches_the_plugin() -> None:
    reached = asyncio.Event()
    let_go = asyncio.Event()

    class Waits:
        name = "waits"

        @hookimpl
        async def context_items(self) -> None:
            reached.set()
            try:
                await asyncio.Event().wait()
            finally:
                let_go.set()

    host = await started(Waits())
    asking = asyncio.create_task(host.collect("context_items", turn=None))
    await reached.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert let_go.is_set()


async def test_the_first_denial_stops_the_action() -> None:
    plugins = [Good("a"), Good("b", denial=REFUSED), Good("c")]
    host = await started(*plugins)
    assert await host.guard("guard_turn", turn=None) == REFUSED
    assert [plugin.asked for plugin in plugins] == [1, 1, 0]


async def test_a_guard_that_is_not_started_has_denied() -> None:
    host = PluginHost([Good()])
    denial = await host.guard("guard_turn", turn=None)
    assert denial is not None
    assert await host.collect("context_items", turn=None) == []
    await host.start(core(host))
    assert await host.guard("guard_turn", turn=None) is None
    await host.stop()
    assert await host.guard("guard_turn", turn=None) is not None


async def test_everything_wrong_is_said_at_once() -> None:
    with pytest.raises(PluginsRefused) as caught:
        PluginHost([Good("same"), Good("same"), Good("Bad Name"), Good("core")])
    assert len(str(caught.value).splitlines()) == 3
