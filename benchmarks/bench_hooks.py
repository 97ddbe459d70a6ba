"""What a hook costs beside a direct await: `python -m benchmarks.bench_hooks` prints JSON, in microseconds.

Five plugins answer without suspending; `direct` awaits their methods one after the other with nothing around them.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from statistics import median, quantiles
from typing import Any

from agent.hookspecs import hookimpl
from agent.plugin_host import PluginHost

PLUGINS = 5
ROUNDS = 200
CALLS_A_ROUND = 50
GOAL = 20.0
"""Microseconds that five plugins may cost."""


class Plugin:
    """Answers each hook at once."""

    def __init__(self, name: str) -> None:
        self.name = name

    @hookimpl
    async def context_items(self) -> tuple[()]:
        """Give nothing."""
        return ()

    @hookimpl
    async def guard_turn(self) -> None:
        """Let it pass."""

    @hookimpl
    def health(self) -> tuple[()]:
        """Give nothing, without being a coroutine."""
        return ()


async def measure(work: Callable[[], Awaitable[object]]) -> dict[str, float]:
    """Return median, p95 and p99 of one call, over rounds of many calls, in microseconds."""
    rounds: list[float] = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for _ in range(CALLS_A_ROUND):
            await work()
        rounds.append((time.perf_counter() - began) / CALLS_A_ROUND * 1e6)
    cuts = quantiles(rounds, n=100)
    return {"median": round(median(rounds), 2), "p95": round(cuts[94], 2), "p99": round(cuts[98], 2)}


async def run() -> dict[str, Any]:
    """Measure each mode and the baseline."""
    plugins = [Plugin(f"plugin_{number}") for number in range(PLUGINS)]
    core: Any = None
    host = PluginHost(plugins)
    await host.start(core)

    async def direct() -> list[object]:
        return [await plugin.context_items() for plugin in plugins]

    assert await host.collect("context_items", turn=None) == await direct()
    figures = {
        "direct": await measure(direct),
        "collect": await measure(lambda: host.collect("context_items", turn=None)),
        "collect_sync": await measure(lambda: host.collect("health")),
        "guard": await measure(lambda: host.guard("guard_turn", turn=None)),
    }
    await host.stop()
    return {"plugins": PLUGINS, "unit": "us", "goal": {"median": GOAL}, **figures}


def main() -> None:
    """Print the figures."""
    print(json.dumps(asyncio.run(run()), indent=2))


if __name__ == "__main__":
    main()
