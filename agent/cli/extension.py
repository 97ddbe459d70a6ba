"""The commands that plugins add: their modules are loaded only when one of these is called, or for the full help."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from agent.cli.failures import argument_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import typer

    from agent.settings import LoadedSettings

_HOOK: Final = "register_cli"


def add_plugin_commands(app: typer.Typer, arguments: Sequence[str], *, required: bool) -> None:
    """Let every enabled plugin add its commands.

    `required`: a command was called that the core does not have, so a plugin that cannot be loaded is an error;
    otherwise (`--help`) what cannot be loaded is left out.

    Raises:
        SettingsError, PluginError: only when `required`.
    """
    from agent.cli.opened import load
    from agent.settings import SettingsError

    config, data = (argument_of(arguments, option) for option in ("--config", "--data"))
    try:
        loaded = load(Path(config) if config else None, Path(data) if data else None)
        if _any_has_commands(loaded):
            _register(app, loaded, required=required)
    except SettingsError:
        if required:
            raise


def _any_has_commands(loaded: LoadedSettings) -> bool:
    """Tell whether a plugin adds commands: only then is the host of plugins loaded, which takes its time."""
    from agent.extensions.find import PLUGIN, Unloadable, find_class

    for name, section in loaded.settings.plugins.items():
        try:
            if section.enabled and hasattr(find_class(PLUGIN, name, section.module), _HOOK):
                return True
        except Unloadable:
            return True  # the host says what is wrong with it
    return False


def _register(app: typer.Typer, loaded: LoadedSettings, *, required: bool) -> None:
    import asyncio

    from agent.cli.opened import silence_logs
    from agent.plugin_host import PluginError
    from agent.plugin_loader import load_plugins

    silence_logs()
    try:
        asyncio.run(load_plugins(loaded).collect(_HOOK, app=app))
    except PluginError:
        if required:
            raise
