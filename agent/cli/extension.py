"""The commands that plugins and bridges add: their modules are loaded only when one is called, or for the full help."""

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
    otherwise (`--help`) what cannot be loaded is left out, and one line says so.

    Raises:
        SettingsError, PluginError: only when `required`.
    """
    from agent.cli.opened import load
    from agent.settings import SettingsError

    config, data = (argument_of(arguments, option) for option in ("--config", "--data"))
    try:
        loaded = load(Path(config) if config else None, Path(data) if data else None)
    except SettingsError:
        if required:
            raise
        return
    if required:
        _ask_plugins(app, loaded)
    else:
        _show_commands(app, loaded)


def _ask_plugins(app: typer.Typer, loaded: LoadedSettings) -> None:
    import asyncio

    from agent.cli.opened import silence_logs
    from agent.plugin_loader import load_plugins

    silence_logs()
    asyncio.run(load_plugins(loaded).collect(_HOOK, app=app))
    _ask_bridges(app, loaded)


def _ask_bridges(app: typer.Typer, loaded: LoadedSettings) -> None:
    """Let every enabled bridge add its commands, by a static method of its class."""
    from agent.extensions.find import BRIDGE, find_class

    for name, section in loaded.settings.bridges.items():
        found = getattr(find_class(BRIDGE, name, section.module), _HOOK, None) if section.enabled else None
        if found is not None:
            found(app)


def _show_commands(app: typer.Typer, loaded: LoadedSettings) -> None:
    """Add the commands for the help alone.

    Without the host of plugins, which takes longer to load than the help may take; none of these commands is run.
    """
    import asyncio
    import inspect

    from agent.cli.output import print_error
    from agent.extensions.find import PLUGIN, build, find_class

    for name, section in loaded.settings.plugins.items():
        if not section.enabled:
            continue
        try:
            found = find_class(PLUGIN, name, section.module)
            if hasattr(found, _HOOK):
                added = getattr(build(PLUGIN, name, found, section, loaded), _HOOK)(app)
                if inspect.iscoroutine(added):
                    asyncio.run(added)
        except Exception as error:  # noqa: BLE001 - whoever asks for help gets help
            kind = type(error).__name__
            print_error(f"plugin {name} cannot show its commands ({kind}); isthmus doctor says why")
    try:
        _ask_bridges(app, loaded)
    except Exception as error:  # noqa: BLE001 - the same
        print_error(f"a bridge cannot show its commands ({type(error).__name__}); isthmus doctor says why")
