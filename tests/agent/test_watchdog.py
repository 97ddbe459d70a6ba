from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from agent.hookspecs import hookimpl
from agent.plugin_host import PluginHost
from agent.watchdog import Stall, Watchdog
from tests.agent.extensions import blocking
from tests.agent.test_plugin_host import bad, started

pytestmark = pytest.mark.unwatched_loop


class Blocks:
    name = "blocks_sync"

    def __init__(self) -> None:
        self.task: asyncio.Task[None] | None = None

    @hookimpl
    def context_items(self) -> None:
        blocking.block(0.25)

    @hookimpl
    async def recall(self) -> None:
        await asyncio.sleep(0.01)
        deadline = time.perf_counter() + 0.25
        while time.perf_counter() < deadline:
            pass

    @hookimpl
    async def turn_finished(self) -> None:
        self.task = asyncio.create_task(self.later())

    async def later(self) -> None:
        time.sleep(0.25)  # noqa: ASYNC251 - that is what is to be found


@pytest.fixture
def stalls() -> list[Stall]:
    return []


@pytest.fixture
async def host(stalls: list[Stall]) -> AsyncIterator[PluginHost]:
    host = await started(Blocks(), bad("blocks"))
    with Watchdog(host.packages, on_stall=stalls.append):
        yield host
    await host.stop()


async def end_of_stall() -> None:
    await asyncio.sleep(0.05)


async def test_a_blocking_hook_is_named_with_its_line(host: PluginHost, stalls: list[Stall]) -> None:
    await host.guard("guard_memory_read", read=None)
    await end_of_stall()
    (stall,) = stalls
    assert (stall.plugin, stall.hook, stall.called_by) == ("blocks", "guard_memory_read", "")
    assert stall.where.endswith("blocks.py:10 in Plugin.misbehave")


async def test_a_sync_hook_is_named_though_another_module_blocks(stalls: list[Stall]) -> None:
    class Far:
        name = "far"

        @hookimpl
        def health(self) -> None:
            blocking.block(0.25)

    far = await started(Far())
    with Watchdog(far.packages, on_stall=stalls.append):
        await far.collect("health")
        await end_of_stall()
    (stall,) = stalls
    assert (stall.plugin, stall.hook, stall.where.rsplit(" ", 1)[1]) == ("far", "health", "block")
    assert stall.called_by.endswith("Far.health")


async def test_a_hook_that_blocks_after_it_was_suspended_is_named(host: PluginHost, stalls: list[Stall]) -> None:
    await host.collect("recall", turn=None, query="")
    assert ("blocks_sync", "recall") in {(stall.plugin, stall.hook) for stall in stalls}


async def test_a_plugins_own_task_is_named(host: PluginHost, stalls: list[Stall]) -> None:
    plugin: Any = host.get("blocks_sync")
    await host.collect("turn_finished", turn=None, recalled=())
    assert [stall.plugin for stall in stalls] == ["blocks"]
    await plugin.task
    await end_of_stall()
    assert [(stall.plugin, stall.hook) for stall in stalls[1:]] == [("blocks_sync", "Blocks.later")]


async def test_two_plugins_that_block_in_a_row_are_both_named(host: PluginHost, stalls: list[Stall]) -> None:
    await host.collect("context_items", turn=None)
    await end_of_stall()
    assert [stall.plugin for stall in stalls] == ["blocks_sync", "blocks"]


async def test_code_of_nobody_is_reported_without_a_plugin(stalls: list[Stall]) -> None:
    with Watchdog(on_stall=stalls.append):
        await asyncio.sleep(0)
        time.sleep(0.25)  # noqa: ASYNC251 - that is what is to be found
        await end_of_stall()
    assert [(stall.plugin, stall.hook) for stall in stalls] == [("", "")]


async def test_what_is_shorter_is_not_reported(stalls: list[Stall]) -> None:
    with Watchdog(on_stall=stalls.append, threshold=0.5):
        for _ in range(5):
            time.sleep(0.1)  # noqa: ASYNC251 - that is what is to be found
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)
    assert stalls == []


async def test_it_stops_at_once_and_may_be_stopped_twice() -> None:
    watchdog = Watchdog().start()
    await asyncio.sleep(0.05)
    before = time.perf_counter()
    watchdog.stop()
    watchdog.stop()
    assert time.perf_counter() - before < 0.05


async def test_the_stall_is_logged_and_measured(
    host: PluginHost, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    emitted: list[tuple[str, float, dict[str, object]]] = []
    monkeypatch.setattr(
        "agent.watchdog.metrics.emit", lambda name, value=1, **labels: emitted.append((name, value, labels))
    )
    await host.collect("health")
    await end_of_stall()
    assert "loop_blocked" in capsys.readouterr().err
    stalls = [entry for entry in emitted if entry[0] == "loop_stall_seconds"]
    ((_, seconds, labels),) = stalls
    assert labels == {"plugin": "blocks", "hook": "health"}
    assert 0.15 < seconds < 2
