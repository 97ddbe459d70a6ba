"""`isthmus lorebook …`: the same from the command line, for operators."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent.cli.errors import FAILED, OK, CallRefused, CommandFailed
from agent.cli.options import ChannelOption, ConfigOption, DataOption, JsonOption, PersonOption, ServerOption
from agent.cli.output import print_error, print_json, print_line, print_table
from agent.printing import printable

if TYPE_CHECKING:
    from agent.cli.where import Asked, Spot
    from agent.places import Place
    from agent.settings import LoadedSettings
    from plugins.lorebook import LorebookPlugin
    from plugins.lorebook.library import Library

app = typer.Typer(help="Lorebooks: lore that joins the prompt when it is spoken of.", no_args_is_help=True)

BookArgument = Annotated[str, typer.Argument(metavar="NAME", help="The lorebook, as `isthmus lorebook list` shows it.")]


@app.command("list")
def list_books(
    config: ConfigOption = None, data: DataOption = None, server: ServerOption = None, as_json: JsonOption = False
) -> int:
    """Show the lorebooks of a server: how many entries they have, and where they apply."""
    from agent.cli.opened import complete, load
    from agent.cli.where import Asked

    return complete(_list(load(config, data), Asked(server), as_json=as_json))


@app.command("import")
def import_file(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A JSON file, or the picture of a character card.")],
    config: ConfigOption = None,
    data: DataOption = None,
    server: ServerOption = None,
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="What to call it.", show_default=False)] = "",
    persona: Annotated[
        str, typer.Option("--persona", metavar="NAME", help="The only persona that knows it.", show_default=False)
    ] = "",
    channel: Annotated[
        str | None,
        typer.Option("--channel", metavar="CHANNEL", help="The only channel in which it applies.", show_default=False),
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the lorebook of that name.")] = False,
    as_json: JsonOption = False,
) -> int:
    """Take over a lorebook of SillyTavern or of a character card (V2, V3); nothing is written unless all is sound."""
    from agent.cli.opened import complete, load
    from agent.cli.where import Asked

    wanted = _Wanted(file, name, persona, channel is not None, replace)
    return complete(_import(load(config, data), Asked(server, channel), wanted, as_json=as_json))


@app.command("export")
def export_book(
    name: BookArgument,
    config: ConfigOption = None,
    data: DataOption = None,
    server: ServerOption = None,
    form: Annotated[str, typer.Option("--form", metavar="FORM", help="sillytavern or card (V3).")] = "sillytavern",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where to write it.", show_default="standard output")
    ] = None,
) -> int:
    """Write a lorebook as a file; where it applies is left out."""
    from agent.cli.opened import complete, load
    from agent.cli.where import Asked

    return complete(_export(load(config, data), Asked(server), name, form, out))


@app.command("test")
def try_text(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The message.")],
    config: ConfigOption = None,
    data: DataOption = None,
    server: ServerOption = None,
    channel: ChannelOption = None,
    person: PersonOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show which entries a message would call up in that place, and why."""
    from agent.cli.opened import complete, load
    from agent.cli.where import Asked

    return complete(_test(load(config, data), Asked(server, channel, person), text, as_json=as_json))


@dataclass(frozen=True, slots=True)
class _Wanted:
    file: Path
    name: str
    persona: str
    in_channel: bool
    replace: bool


@dataclass(frozen=True, slots=True)
class _Opened:
    plugin: LorebookPlugin
    place: Place
    spot: Spot

    @property
    def library(self) -> Library:
        return self.plugin.library

    @property
    def server_id(self) -> int:
        return self.place.server.server_id


@contextlib.asynccontextmanager
async def _opened(loaded: LoadedSettings, asked: Asked) -> AsyncGenerator[_Opened]:
    """Open the agent and the place that is asked for; what is refused ends the command with one line."""
    from agent.cli.opened import opened_agent
    from agent.cli.where import find_place
    from agent.files import FileRefused
    from plugins.lorebook import LorebookPlugin
    from plugins.lorebook.editing import LoreRefused

    async with opened_agent(loaded) as agent:
        plugin = agent.plugins.get(LorebookPlugin.name)
        if not isinstance(plugin, LorebookPlugin):
            raise CommandFailed("the plugin lorebook is off: set enabled = true in [plugins.lorebook]")
        core = agent.core
        spot = await find_place(core.store, asked)
        entrance = await core.people.enter(spot.server, spot.channel, spot.author, core.clock.now())
        try:
            yield _Opened(plugin, entrance.place, spot)
        except (FileRefused, LoreRefused) as refused:
            raise CommandFailed(str(refused)) from None


async def _list(loaded: LoadedSettings, asked: Asked, *, as_json: bool) -> int:
    from plugins.lorebook.telling import book_data

    async with _opened(loaded, asked) as opened:
        listed = await opened.library.books(opened.server_id)
        names = {lineage: name for name, lineage in (await opened.library.lineages(opened.server_id)).items()}
    if as_json:
        print_json([book_data(each.book, each.entries) for each in listed])
        return OK
    rows = [
        (
            each.book.name,
            str(each.entries),
            "on" if each.book.enabled else "off",
            "all" if (lineage := each.book.scope.lineage_id) is None else names.get(lineage, f"lineage {lineage}"),
            ", ".join(each.book.scope.channel_ids) or "all",
        )
        for each in listed
    ]
    print_table(("lorebook", "entries", "state", "persona", "channels"), rows)
    return OK


async def _import(loaded: LoadedSettings, asked: Asked, wanted: _Wanted, *, as_json: bool) -> int:
    from agent.files import LocalFile
    from plugins.lorebook.book import Scope
    from plugins.lorebook.editing import lineage_of
    from plugins.lorebook.library import BookRefused
    from plugins.lorebook.reading import MAX_FILE
    from plugins.lorebook.telling import book_data

    async with _opened(loaded, asked) as opened:
        scope = None
        if wanted.persona or wanted.in_channel:
            lineages = await opened.library.lineages(opened.server_id)
            lineage_id = lineage_of(wanted.persona, lineages) if wanted.persona else None
            scope = Scope(lineage_id, (opened.spot.channel.external_id,) if wanted.in_channel else ())
        file = LocalFile(wanted.file.expanduser())
        try:
            imported = await opened.library.import_file(
                opened.server_id,
                await file.read(MAX_FILE),
                file.name,
                name=wanted.name,
                scope=scope,
                replacing=wanted.replace,
            )
        except BookRefused as refused:
            print_error(f"nothing was imported: {len(refused.lines)} faults in {file.name}")
            for line in refused.lines:
                print_error(line)
            return FAILED
    count = len(imported.book.entries)
    if as_json:
        said: dict[str, Any] = {"replaced": imported.replaced, "notes": list(imported.notes)}
        print_json({**book_data(imported.book, count), **said})
        return OK
    print_line(printable(f"imported {imported.book.name}: {count} entries"))
    for note in imported.notes:
        print_line(printable(f"  {note}"))
    return OK


async def _export(loaded: LoadedSettings, asked: Asked, name: str, form: str, out: Path | None) -> int:
    from plugins.lorebook.writing import Form, write_book

    if form not in set(Form):
        raise CallRefused(f"--form {form[:40]!r}: expected {' or '.join(Form)}")
    async with _opened(loaded, asked) as opened:
        content = write_book(await opened.library.book(opened.server_id, name), Form(form))
    if out is None:
        print_line(content.decode().rstrip("\n"))
        return OK
    _write(out, content)
    return OK


def _write(path: Path, content: bytes) -> None:
    try:
        path.expanduser().write_bytes(content)
    except (OSError, ValueError) as error:
        raise CommandFailed(f"{path}: {getattr(error, 'strerror', None) or 'no usable path'}") from None


async def _test(loaded: LoadedSettings, asked: Asked, text: str, *, as_json: bool) -> int:
    from plugins.lorebook.telling import scan_data, scan_lines

    async with _opened(loaded, asked) as opened:
        scan = await opened.plugin.test(opened.place, text)
        locale = opened.plugin.locale
    if as_json:
        print_json(scan_data(scan))
        return OK
    for line in scan_lines(scan, locale):
        print_line(printable(line))
    return OK
