from __future__ import annotations

import asyncio
import importlib
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agent.contracts.context import ContextItem, Role, Section, Tag
from agent.contracts.people import Denial, Refusal
from agent.core import Core
from agent.hookspecs import HOOKS, Mode, Unavailable, hookimpl
from agent.plugin_host import HookFailed, PluginHost, PluginsRefused, PluginStartFailed, State
from agent.settings import Section as Settings
from agent.tools import Tool

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
MUST_SUCCEED = ("erase_person", "message_deleted", "move_user")


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
    return cast("Core", SimpleNamespace(hooks=host))  # these plugins ask for nothing else


async def test_results_come_in_the_order_of_the_file() -> None:
    host = await started(*(Good(name, items=[ITEM] * n) for n, name in enumerate(("z", "a", "m"))))
    found = await host.collect_by_plugin("context_items", turn=None)
    assert found == [("z", ()), ("a", (ITEM,)), ("m", (ITEM, ITEM))]


async def test_some_plugins_can_be_asked_alone() -> None:
    first, second = Good("first"), Good("second")
    host = PluginHost([first, second])
    assert host.implementing("context_items") == ()
    await host.start(core(host))
    assert host.implementing("context_items") == ("first", "second")
    assert host.implementing("recall") == ()
    assert await host.collect_from(["second", "absent"], "context_items", turn=None) == [("second", (ITEM,))]
    assert (first.asked, second.asked) == (0, 1)


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("hook", [hook for hook in OF_MODE[Mode.COLLECT] if hook not in MUST_SUCCEED])
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
@pytest.mark.parametrize("hook", MUST_SUCCEED)
async def test_a_failing_part_of_what_must_succeed_raises(name: str, hook: str) -> None:
    host = await started(bad(name), deadlines=SHORT)
    with pytest.raises(HookFailed, match=rf"plugin {name} failed in {hook} \("):
        await host.collect(hook, **values(hook))
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


class Starts:
    def __init__(self, name: str, log: list[str], *, requires: tuple[str, ...] = (), error: str = "") -> None:
        self.name = name
        self.requires = requires
        self.log = log
        self.error = error

    @hookimpl
    async def start(self, core: Core) -> None:
        self.log.append(f"start {self.name}")
        if self.error:
            raise OSError(self.error)

    @hookimpl
    async def stop(self) -> None:
        self.log.append(f"stop {self.name}")
        raise ValueError

    @hookimpl
    async def health(self) -> None:
        self.log.append(f"ask {self.name}")


async def test_what_is_required_starts_first_and_stops_last() -> None:
    log: list[str] = []
    host = await started(Starts("a", log, requires=("c",)), Starts("b", log), Starts("c", log))
    await host.collect("health")
    await host.stop()
    await host.stop()
    assert log == [
        *("start b", "start c", "start a"),
        *("ask a", "ask b", "ask c"),
        *("stop a", "stop c", "stop b"),
    ]


async def test_a_failing_start_stops_what_was_started() -> None:
    log: list[str] = []
    host = PluginHost([Starts("a", log), Starts("b", log, error="no\nway"), Starts("c", log)])
    with pytest.raises(PluginStartFailed) as caught:
        await host.start(core(host))
    assert str(caught.value) == (
        "plugin b could not be started: OSError: no way; mend it, or set enabled = false in [plugins.b]"
    )
    assert log == ["start a", "start b", "stop a"]


async def test_an_optional_plugin_that_does_not_start_is_left_out_with_what_requires_it() -> None:
    log: list[str] = []
    plugins = [Starts("a", log), Starts("b", log, error="no"), Starts("c", log, requires=("b",))]
    host = await started(*plugins, optional={"b", "c"})
    await host.collect("health")
    assert log == ["start a", "start b", "ask a"]
    assert [(status.name, status.state, status.reason) for status in host.plugins] == [
        ("a", State.STARTED, ""),
        ("b", State.FAILED, "OSError: no"),
        ("c", State.FAILED, "requires b, which is not started"),
    ]
    host = PluginHost([*plugins[:2], Starts("c", log, requires=("b",))], optional={"b"})
    with pytest.raises(PluginStartFailed, match="plugin c could not be started: requires b, which is not started"):
        await host.start(core(host))


async def test_a_start_that_is_cancelled_stops_what_was_started() -> None:
    log: list[str] = []
    host = PluginHost([Starts("a", log), bad("hangs", spared=("stop",))])
    starting = asyncio.create_task(host.start(core(host)))
    await asyncio.sleep(0)
    assert log == ["start a"]
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert log == ["start a", "stop a"]


async def test_the_command_line_is_asked_before_the_start() -> None:
    asked: list[object] = []

    class Cli:
        name = "cli"

        @hookimpl
        def register_cli(self, app: object) -> None:
            asked.append(app)

    host = PluginHost([Cli()])
    await host.collect("register_cli", app=1)
    assert asked == [1]


async def test_topics_are_covered_by_started_guards_alone() -> None:
    class Covers(Good):
        covers = frozenset({"proxy_identity"})

    host = PluginHost([Covers()])
    assert not host.covers("proxy_identity")
    await host.start(core(host))
    assert host.covers("proxy_identity")
    assert host.covers("proxy_identity", "guard_turn")
    assert not host.covers("proxy_identity", "guard_memory_read")
    assert not host.covers("weather")
    await host.stop()
    assert not host.covers("proxy_identity")


async def test_a_mistake_of_the_core_shows_at_once() -> None:
    host = await started()
    with pytest.raises(TypeError, match=r"hook guard_turn takes \(turn\), not \(trun\)"):
        await host.guard("guard_turn", trun=None)
    with pytest.raises(ValueError, match="hook guard_turn is a guard hook, not a collect hook"):
        await host.collect("guard_turn", turn=None)
    with pytest.raises(KeyError):
        await host.collect("no_hook")


async def test_tools_bear_the_name_of_the_plugin_that_gave_them() -> None:
    class Pretends:
        name = "pretends"

        @hookimpl
        def register_tools(self) -> Any:
            return [Tool("look_up", "Looks up.", Settings, run, owner="core")]

    async def run(*_: object) -> Any:
        raise NotImplementedError

    host = await started(Pretends())
    ((tool,),) = await host.collect("register_tools")
    assert tool.owner == "pretends"


async def test_recall_asks_plugins_at_the_same_time_and_keeps_their_order() -> None:
    both = asyncio.Barrier(2)

    class Meets:
        def __init__(self, name: str) -> None:
            self.name = name

        @hookimpl
        async def recall(self, turn: Any, query: Any) -> list[Any]:
            await both.wait()
            return []

    host = await started(Meets("z"), Meets("a"))
    assert await host.collect_by_plugin("recall", turn=None, query=None) == [("z", ()), ("a", ())]
