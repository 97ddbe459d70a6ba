"""`isthmus preset …`: the same from the command line, for operators."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent.cli.errors import FAILED, OK, CommandFailed
from agent.cli.options import ConfigOption, DataOption, JsonOption, ServerOption
from agent.cli.output import print_error, print_json, print_line, print_table
from agent.printing import printable

if TYPE_CHECKING:
    from agent.settings import LoadedSettings
    from plugins.presets.library import Presets

app = typer.Typer(help="Presets: the order of the prompt, and texts of its own.", no_args_is_help=True)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The preset, as `isthmus preset list` shows it.")]


@app.command("list")
def list_presets(
    config: ConfigOption = None, data: DataOption = None, server: ServerOption = None, as_json: JsonOption = False
) -> int:
    """Show the presets of a server, and which one is in use."""
    from agent.cli.opened import complete, load

    return complete(_list(load(config, data), server, as_json=as_json))


@app.command("show")
def show_preset(
    name: NameArgument,
    config: ConfigOption = None,
    data: DataOption = None,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show the order of a preset."""
    from agent.cli.opened import complete, load

    return complete(_show(load(config, data), server, name, as_json=as_json))


@app.command("import")
def import_file(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A JSON file with a chat-completion preset.")],
    config: ConfigOption = None,
    data: DataOption = None,
    server: ServerOption = None,
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="What to call it.", show_default=False)] = "",
    replace: Annotated[bool, typer.Option("--replace", help="Replace the preset of that name.")] = False,
    as_json: JsonOption = False,
) -> int:
    """Take over a chat-completion preset of SillyTavern; nothing is written unless all is sound."""
    from agent.cli.opened import complete, load

    return complete(_import(load(config, data), server, file.expanduser(), name, replace=replace, as_json=as_json))


@app.command("use")
def use_preset(
    name: NameArgument, config: ConfigOption = None, data: DataOption = None, server: ServerOption = None
) -> int:
    """Order every prompt of a server as a preset says."""
    from agent.cli.opened import complete, load

    return complete(_use(load(config, data), server, name))


@app.command("off")
def use_none(config: ConfigOption = None, data: DataOption = None, server: ServerOption = None) -> int:
    """Use no preset in a server."""
    from agent.cli.opened import complete, load

    return complete(_use(load(config, data), server, None))


@contextlib.asynccontextmanager
async def _opened(loaded: LoadedSettings, server: str | None) -> AsyncGenerator[tuple[Presets, int]]:
    """Open the agent and the server that is asked for; what is refused ends the command with one line."""
    from agent.cli.opened import opened_agent
    from agent.cli.where import Asked, find_place
    from agent.files import FileRefused
    from plugins.presets import PresetsPlugin
    from plugins.presets.library import PresetRefused

    async with opened_agent(loaded) as agent:
        plugin = agent.plugins.get(PresetsPlugin.name)
        if not isinstance(plugin, PresetsPlugin):
            raise CommandFailed("the plugin presets is off: set enabled = true in [plugins.presets]")
        core = agent.core
        spot = await find_place(core.store, Asked(server))
        entrance = await core.people.enter(spot.server, spot.channel, spot.author, core.clock.now())
        try:
            yield plugin.presets, entrance.place.server.server_id
        except (FileRefused, PresetRefused) as refused:
            raise CommandFailed(str(refused)) from None


async def _list(loaded: LoadedSettings, server: str | None, *, as_json: bool) -> int:
    async with _opened(loaded, server) as (presets, server_id):
        found = await presets.all(server_id)
    if as_json:
        print_json([{"name": preset.name, "in_use": preset.in_use} for preset in found])
        return OK
    rows = [(preset.name, str(len(list(preset.sent()))), "in use" if preset.in_use else "") for preset in found]
    print_table(("preset", "prompts", "state"), rows)
    return OK


async def _show(loaded: LoadedSettings, server: str | None, name: str, *, as_json: bool) -> int:
    from plugins.presets.telling import preset_data, preset_lines

    async with _opened(loaded, server) as (presets, server_id):
        preset = await presets.get(server_id, name)
    if as_json:
        print_json(preset_data(preset))
        return OK
    for line in preset_lines(preset, loaded.settings.agent.locale):
        print_line(printable(line))
    return OK


async def _import(
    loaded: LoadedSettings, server: str | None, path: Path, name: str, *, replace: bool, as_json: bool
) -> int:
    from agent.files import LocalFile
    from plugins.presets.library import FileFaults
    from plugins.presets.reading import MAX_FILE
    from plugins.presets.telling import preset_data

    async with _opened(loaded, server) as (presets, server_id):
        file = LocalFile(path)
        try:
            imported = await presets.import_file(
                server_id, await file.read(MAX_FILE), file.name, name=name, replacing=replace
            )
        except FileFaults as faults:
            print_error(f"nothing was imported: {len(faults.lines)} faults in {file.name}")
            for line in faults.lines:
                print_error(line)
            return FAILED
    if as_json:
        print_json({**preset_data(imported.preset), "replaced": imported.replaced, "notes": list(imported.notes)})
        return OK
    print_line(printable(f"imported {imported.preset.name}: {len(list(imported.preset.sent()))} prompts"))
    for note in imported.notes:
        print_line(printable(f"  {note}"))
    return OK


async def _use(loaded: LoadedSettings, server: str | None, name: str | None) -> int:
    async with _opened(loaded, server) as (presets, server_id):
        if name is None:
            await presets.use_none(server_id)
        else:
            await presets.use(server_id, name)
    return OK
