"""Loads the bridges that the settings enable. Everything that is wrong with them is reported in one run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from agent import logs
from agent.bridge import Capabilities
from agent.extensions.find import BRIDGE, Unloadable, build, find_class
from agent.extensions.names import name_problem
from agent.extensions.order import Complaint
from agent.settings import LoadedSettings, Problem, SettingsError

if TYPE_CHECKING:
    from agent.bridge import Bridge

_log = logs.get_logger("agent.bridges")
_METHODS: Final = (
    "identity",
    "agent_keys",
    "start",
    "stop",
    "send",
    "find_sent",
    "edit",
    "withdraw",
    "history",
    "fetch",
    "typing",
)


@dataclass(frozen=True, slots=True)
class LoadedBridges:
    """The bridges of this deployment, not started yet."""

    bridges: tuple[Bridge, ...]
    optional: frozenset[str] = frozenset()
    """The names of those whose failing start does not stop the agent's."""
    failed: tuple[Complaint, ...] = ()
    """Those that are optional and could not be loaded."""
    disabled: tuple[str, ...] = ()


def load_bridges(loaded: LoadedSettings) -> LoadedBridges:
    """Return every bridge that is enabled, built with its settings.

    Raises:
        SettingsError: with every problem of every bridge, each with its line in plugins.toml.
    """
    bridges: dict[str, Any] = {}
    failed: list[Complaint] = []
    problems: list[Problem] = []
    sections = loaded.settings.bridges
    for name, section in sections.items():
        if not section.enabled:
            continue
        wrong: list[str] = []
        try:
            bridge = build(BRIDGE, name, find_class(BRIDGE, name, section.module), section, loaded)
            wrong = [*_lacks(bridge), *_taken(bridge, bridges)]
            if not wrong:
                bridges[name] = bridge
        except SettingsError as error:
            problems += error.problems
        except Unloadable as error:
            wrong = [str(error)]
        if section.optional:
            failed += (Complaint(name, text) for text in wrong)
        else:
            problems += (Problem(loaded.origins.of(("bridges", name)), f"bridges.{name}", text) for text in wrong)
    for complaint in failed:
        _log.error("optional_bridge_not_loaded", bridge=complaint.name, problem=complaint.text)
    if problems:
        raise SettingsError(problems)
    return LoadedBridges(
        bridges=tuple(bridges.values()),
        optional=frozenset(name for name in bridges if sections[name].optional),
        failed=tuple(failed),
        disabled=tuple(name for name, section in sections.items() if not section.enabled),
    )


def _lacks(bridge: object) -> Iterator[str]:
    """Say what a bridge lacks (agent/bridge.py)."""
    if problem := name_problem(getattr(bridge, "name", None)):
        yield problem
    if not isinstance(getattr(bridge, "platform", None), str):
        yield "its `platform` must be a text"
    if not isinstance(getattr(bridge, "capabilities", None), Capabilities):
        yield "its `capabilities` must be agent.bridge.Capabilities"
    if missing := [method for method in _METHODS if not callable(getattr(bridge, method, None))]:
        yield f"it has no method {', '.join(missing)}"


def _taken(bridge: Any, bridges: dict[str, Any]) -> Iterator[str]:
    """Two bridges of one platform would both claim its events."""
    platform = getattr(bridge, "platform", None)
    for name, other in bridges.items():
        if other.platform == platform:
            yield f"bridge {name} already serves platform {platform!r}: enable one of them"
