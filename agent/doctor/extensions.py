"""Whether the plugins and bridges can be loaded and started, and what they say about themselves."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from agent.bridge import HasHealth
from agent.explained import explain
from agent.hookspecs import Health
from agent.plugin_host import PluginError, State
from agent.settings import SettingsError

if TYPE_CHECKING:
    from agent.bridge import Bridge
    from agent.plugin_host import PluginHost, PluginStatus
    from agent.settings import LoadedSettings

_SECONDS: Final = 60.0
"""That a bridge may take to look at itself."""


async def plugin_health(loaded: LoadedSettings, *, ready: bool) -> list[Health]:
    """Return a line for each plugin, and what those say that were started.

    `ready`: the database is as this version needs it, so the agent can be started (without bridges) to ask them.
    """
    from agent.plugin_loader import load_plugins

    if not ready:
        try:
            return [_line(status) for status in load_plugins(loaded).plugins]
        except (SettingsError, PluginError) as error:
            return [Health("plugins", "fail", line, "correct plugins.toml") for line in explain(error) or ()]
    from agent.app import Agent

    try:
        agent = await Agent.start(loaded, bridges=())
    except Exception as error:
        lines = explain(error)
        if lines is None:
            raise
        return [Health("plugins", "fail", line, "mend what it names") for line in lines]
    try:
        return [_line(status) for status in agent.plugins.plugins] + await _own_lines(agent.plugins)
    finally:
        await agent.stop()


async def _own_lines(host: PluginHost) -> list[Health]:
    return [
        line if line.name.startswith(plugin) else replace(line, name=f"{plugin}: {line.name}")
        for plugin, found in await host.collect_by_plugin("health")
        for line in found
    ]


def _line(status: PluginStatus) -> Health:
    name = f"plugin {status.name}"
    if status.state is State.FAILED:
        return Health(name, "warn", status.reason, f"mend it, or set enabled = false in [plugins.{status.name}]")
    return Health(name, "ok", status.state.value)


async def bridge_health(loaded: LoadedSettings) -> list[Health]:
    """Return a line for each bridge that is enabled, and what it says of itself; none is started for that."""
    from agent.bridge_loader import load_bridges

    try:
        found = load_bridges(loaded)
    except SettingsError as error:
        return [Health("bridges", "fail", str(problem), f"correct {problem.origin}") for problem in error.problems]
    lines: list[Health] = []
    for bridge in found.bridges:
        lines += await _of_bridge(bridge)
    lines += [
        Health(f"bridge {each.name}", "warn", each.text, f"mend it, or set enabled = false in [bridges.{each.name}]")
        for each in found.failed
    ]
    return lines or [Health("bridges", "ok", "none is enabled: `isthmus chat` works, `isthmus run` needs one")]


async def _of_bridge(bridge: Bridge) -> list[Health]:
    name = f"bridge {bridge.name}"
    if not isinstance(bridge, HasHealth):
        return [Health(name, "ok", "loaded")]
    try:
        async with asyncio.timeout(_SECONDS):
            return list(await bridge.health())
    except TimeoutError:
        return [Health(name, "warn", f"it did not answer within {_SECONDS:.0f} seconds", "run isthmus doctor again")]
    except Exception as error:  # noqa: BLE001 - a check that fails is a finding
        remedy = "report it as a fault of the bridge"
        lines = explain(error)
        if lines is not None:
            return [Health(name, "fail", " ".join(lines), "mend what it names")]
        return [Health(name, "fail", f"its check itself failed ({type(error).__name__})", remedy)]
