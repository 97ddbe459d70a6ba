"""Loads the plugins that the settings enable. Everything that is wrong with them is reported in one run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent import logs
from agent.extensions.check import check_plugin, optional_problem, texts
from agent.extensions.find import PLUGIN, Unloadable, build, find_class, section_model
from agent.extensions.names import did_you_mean
from agent.extensions.order import start_order
from agent.hookspecs import HOOKS
from agent.plugin_host import PluginHost, PluginStatus, State
from agent.settings import LoadedSettings, Problem, SettingsError

if TYPE_CHECKING:
    from agent.settings import ExtensionSettings

__all__ = ["load_plugins", "section_model"]

_log = logs.get_logger("agent.plugins")


def load_plugins(loaded: LoadedSettings) -> PluginHost:
    """Return a host with every plugin that is enabled, not started yet.

    One that is optional and cannot be loaded is left out and shows as failed; a mistake in its settings is reported
    all the same.

    Raises:
        SettingsError: with every problem of every plugin, each with its line in plugins.toml.
    """
    loading = _Loading(loaded)
    for name, section in _in_file_order(loaded, loaded.settings.plugins.items()):
        if section.enabled:
            loading.load(name, section)
        else:
            loading.others.append(PluginStatus(name, State.DISABLED, optional=section.optional))
    loading.require()
    loading.check_deadlines()
    if loading.problems:
        raise SettingsError(loading.problems)
    return PluginHost(
        loading.plugins.values(),
        optional=[name for name in loading.plugins if loaded.settings.plugins[name].optional],
        others=loading.others,
        deadlines=loaded.settings.agent.deadlines,
    )


def _in_file_order(
    loaded: LoadedSettings, sections: Iterable[tuple[str, ExtensionSettings]]
) -> list[tuple[str, ExtensionSettings]]:
    """Return the sections as they stand in the file; before them those of the built-in defaults alone."""
    return sorted(sections, key=lambda section: loaded.origins.of(("plugins", section[0])).line or 0)


@dataclass(slots=True)
class _Loading:
    loaded: LoadedSettings
    plugins: dict[str, object] = field(default_factory=dict)
    others: list[PluginStatus] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    """Those whose problems are reported: what requires them needs no line of its own."""

    def load(self, name: str, section: ExtensionSettings) -> None:
        """Find, build and check one plugin."""
        try:
            plugin = build(PLUGIN, name, find_class(PLUGIN, name, section.module), section, self.loaded)
        except Unloadable as error:
            self.fail(name, str(error))
            return
        except SettingsError as error:
            self.problems += error.problems
            self.refused.add(name)
            return
        checked = check_plugin(plugin)
        for problem in checked.problems:
            self.fail(name, problem)
        if section.optional and (must_be_there := optional_problem(checked)):
            self.refuse(name, must_be_there)
        if name not in self.refused and not checked.problems:
            self.plugins[name] = plugin

    def require(self) -> None:
        """Leave out what requires something that is not there, again and again until the rest can be started."""
        complaints = True
        while complaints:
            needs = {name: texts(getattr(plugin, "requires", ())) or () for name, plugin in self.plugins.items()}
            needs |= dict.fromkeys(self.refused, ())
            absent = {status.name: "could not be loaded" for status in self.others if status.state is State.FAILED}
            _, found = start_order(needs, absent)
            for complaint in found:
                self.fail(complaint.name, complaint.text)
                self.plugins.pop(complaint.name, None)
            complaints = bool(found)

    def check_deadlines(self) -> None:
        """Refuse deadlines of hooks that do not exist."""
        for hook in self.loaded.settings.agent.deadlines:
            if hook not in HOOKS:
                origin = self.loaded.origins.of(("agent", "deadlines", hook))
                text = f"there is no hook {hook!r}{did_you_mean(hook, HOOKS)}"
                self.problems.append(Problem(origin, f"agent.deadlines.{hook}", text))

    def fail(self, name: str, text: str) -> None:
        """Note that a plugin cannot be used: the start goes on without it only when it is optional."""
        if not self.loaded.settings.plugins[name].optional:
            self.refuse(name, text)
        elif not any(status.name == name for status in self.others):
            self.others.append(PluginStatus(name, State.FAILED, text, optional=True))
            _log.error("optional_plugin_not_loaded", plugin=name, problem=text)

    def refuse(self, name: str, text: str) -> None:
        """Note a problem that stops the start."""
        self.refused.add(name)
        self.problems.append(Problem(self.loaded.origins.of(("plugins", name)), f"plugins.{name}", text))
