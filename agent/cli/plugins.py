"""`isthmus plugins list`."""

from __future__ import annotations

import typer

from agent.cli.errors import OK
from agent.cli.options import ConfigOption, DataOption, JsonOption
from agent.cli.output import print_json, print_table

app = typer.Typer(help="The plugins of this deployment.", no_args_is_help=True)


@app.callback()
def _plugins() -> None:
    """Keep `list` a command of its own while it is the only one."""


@app.command("list")
def list_plugins(config: ConfigOption = None, data: DataOption = None, as_json: JsonOption = False) -> int:
    """Show every plugin that the settings name: its state, what it requires, the hooks that it implements."""
    from agent.cli.opened import load, logged
    from agent.plugin_loader import load_plugins

    loaded = load(config, data)
    with logged(loaded):
        statuses = load_plugins(loaded).plugins
    if as_json:
        print_json(
            [
                {
                    "name": status.name,
                    "state": status.state.value,
                    "reason": status.reason,
                    "optional": status.optional,
                    "requires": list(status.requires),
                    "hooks": list(status.hooks),
                    "covers": list(status.covers),
                }
                for status in statuses
            ]
        )
        return OK
    rows = [
        (
            status.name,
            f"{status.state.value}: {status.reason}" if status.reason else status.state.value,
            ", ".join(status.requires),
            ", ".join(status.hooks),
        )
        for status in statuses
    ]
    print_table(("plugin", "state", "requires", "hooks"), rows)
    return OK
