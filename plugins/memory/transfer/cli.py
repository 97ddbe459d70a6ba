"""`isthmus memory export|import`: for operators."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent.cli.errors import FAILED, OK, CallRefused, CommandFailed
from agent.cli.options import ConfigOption, DataOption, JsonOption, NowOption, ServerOption, parse_now
from agent.cli.output import print_error, print_json, print_line
from agent.printing import printable

if TYPE_CHECKING:
    from datetime import datetime

    from agent.core import Core
    from agent.places import ServerRef
    from agent.settings import LoadedSettings
    from plugins.memory.transfer.importing import How
    from plugins.memory.transfer.outcome import Imported
    from plugins.memory.transfer.service import Transfers

UserOption = Annotated[
    str | None,
    typer.Option("--user", metavar="USER", help="Whose personal memories: platform:id, or a unique name."),
]
PersonaNameOption = Annotated[
    str | None,
    typer.Option("--persona", metavar="NAME", help="The persona whose memories they are.", show_default=False),
]
NarrowOption = Annotated[bool, typer.Option("--all-audiences", help="Also what only some members may read.")]


def register(group: typer.Typer) -> None:
    """Add both commands to `isthmus memory`, once."""
    held = {command.name for command in group.registered_commands}
    for name, command in (("export", export_memories), ("import", import_memories)):
        if name not in held:
            group.command(name)(command)


def export_memories(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Where to write it.", show_default="standard output")
    ] = None,
    config: ConfigOption = None,
    data: DataOption = None,
    server: ServerOption = None,
    user: UserOption = None,
    persona: PersonaNameOption = None,
    narrow: NarrowOption = False,
    now: NowOption = None,
    as_json: JsonOption = False,
) -> int:
    """Write memories of a server (with --user: of a person, with both: of both) as a file; channels are left out."""
    from agent.cli.opened import complete, load

    asked = _Asked(server, user, persona or "", narrow, parse_now(now))
    return complete(_export(load(config, data), asked, file, as_json=as_json))


def import_memories(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file of memories (JSON).")],
    config: ConfigOption = None,
    data: DataOption = None,
    server: ServerOption = None,
    user: UserOption = None,
    persona: PersonaNameOption = None,
    merge: Annotated[bool, typer.Option("--merge", help="Add to what there is (the default).")] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Remove what there is first.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would happen, and change nothing.")] = False,
    narrow: NarrowOption = False,
    now: NowOption = None,
    as_json: JsonOption = False,
) -> int:
    """Take over memories from a file of isthmus, TomoriBot, SillyTavern or Mem0."""
    from agent.cli.opened import complete, load
    from plugins.memory.transfer.importing import How

    if merge and replace:
        raise CallRefused("--merge and --replace: only one of them can be")
    asked = _Asked(server, user, persona or "", narrow, parse_now(now))
    how = How(replaces=replace, tries=dry_run, narrow=narrow)
    return complete(_import(load(config, data), asked, file.expanduser(), how, as_json=as_json))


@dataclass(frozen=True, slots=True)
class _Asked:
    server: str | None
    user: str | None
    persona: str
    narrow: bool
    now: datetime | None


@dataclass(frozen=True, slots=True)
class _Opened:
    transfers: Transfers
    platform: str
    server_id: int | None
    """None when only a person is meant."""
    user_id: int | None


@contextlib.asynccontextmanager
async def _opened(loaded: LoadedSettings, asked: _Asked) -> AsyncGenerator[_Opened]:
    """Open the agent, and find the server and the person that are meant."""
    from agent.cli.opened import opened_agent
    from agent.cli.where import Asked, find_place
    from plugins.memory import MemoryPlugin

    async with opened_agent(loaded, asked.now) as agent:
        plugin = agent.plugins.get(MemoryPlugin.name)
        if not isinstance(plugin, MemoryPlugin):
            raise CommandFailed("the plugin memory is off: set enabled = true in [plugins.memory]")
        core = agent.core
        user_id = None if asked.user is None else await _user(core, plugin.transfers, asked.user)
        server_id: int | None = None
        spot = await find_place(core.store, Asked(asked.server))
        if asked.server is not None or asked.user is None:
            server_id = await _server(core, spot.server)
        yield _Opened(plugin.transfers, spot.server.platform, server_id, user_id)


async def _server(core: Core, server: ServerRef) -> int:
    from agent.cli.where import find_server_id

    found = await find_server_id(core.store, server)
    if found is None:
        raise CommandFailed(f"server {server.name}: nobody has entered it yet; say something there first")
    return found


async def _user(core: Core, transfers: Transfers, user: str) -> int:
    from agent.cli.where import find_account

    user_id = await transfers.repository.user_of(await find_account(core.store, user))
    if user_id is None:
        raise CommandFailed(f"USER {user}: this account can own no personal memories")
    return user_id


async def _export(loaded: LoadedSettings, asked: _Asked, out: Path | None, *, as_json: bool) -> int:
    from plugins.memory.transfer.entries import ImportRefused
    from plugins.memory.transfer.export import Reach

    async with _opened(loaded, asked) as opened:
        lineage_id: int | None = None
        if asked.persona:
            if opened.server_id is None:
                raise CallRefused("--persona needs --server: a persona belongs to a server")
            try:
                lineage_id = await opened.transfers.lineage(opened.server_id, asked.persona)
            except ImportRefused as refused:
                raise CallRefused(str(refused)) from None
        reach = Reach(opened.server_id, opened.user_id, lineage_id, asked.narrow)
        exported = await opened.transfers.exporter.export(reach)
    if out is None:
        print_line(exported.content.decode().rstrip("\n"))
        return OK
    _write(out, exported.content)
    counts = {
        "file": str(out),
        "server_memories": exported.server_memories,
        "personal_memories": exported.personal_memories,
        "narrower": exported.narrower,
        "withheld": exported.withheld,
    }
    if as_json:
        print_json(counts)
        return OK
    print_line(f"exported {exported.count} memories")
    if exported.narrower:
        print_line(f"  {exported.narrower} that only some members may read are not among them (--all-audiences)")
    if exported.withheld:
        print_line(f"  {exported.withheld} were withheld for the privacy of whom they are about")
    return OK


def _write(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read."""
    try:
        target = path.expanduser()
        target.touch(mode=0o600)
        target.write_bytes(content)
    except (OSError, ValueError) as error:
        raise CommandFailed(f"{path}: {getattr(error, 'strerror', None) or 'no usable path'}") from None


async def _import(loaded: LoadedSettings, asked: _Asked, path: Path, how: How, *, as_json: bool) -> int:
    from agent.files import FileRefused, LocalFile
    from plugins.memory.transfer.entries import MAX_FILE, ImportRefused
    from plugins.memory.transfer.reading import read_file
    from plugins.memory.transfer.service import Whereto, refusal_lines

    file = LocalFile(path)
    async with _opened(loaded, asked) as opened:
        if asked.persona and opened.server_id is None:
            raise CallRefused("--persona needs --server: a persona belongs to a server")
        to = Whereto(
            opened.platform, opened.server_id, opened.server_id is not None, opened.user_id, persona=asked.persona
        )
        try:
            parsed = read_file(await file.read(MAX_FILE), file.name)
            imported = await opened.transfers.importer.run(parsed, await opened.transfers.target(to), how)
        except FileRefused as refused:
            raise CommandFailed(str(refused)) from None
        except ImportRefused as refused:
            if as_json:
                print_json({"written": False, "faults": list(refused.lines)})
            else:
                print_error(f"nothing was imported from {file.name}")
                for line in refusal_lines(refused):
                    print_error(line)
            return FAILED
    return _told(imported, how, as_json=as_json)


def _told(imported: Imported, how: How, *, as_json: bool) -> int:
    from plugins.memory.transfer.commands import summary
    from plugins.memory.transfer.service import report_lines

    code = OK if imported.written or (how.tries and (imported.fits or not how.replaces)) else FAILED
    if as_json:
        print_json(imported.data())
        return code
    if how.tries:
        print_line("a trial run: nothing has changed")
    elif not imported.written:
        print_error("nothing has changed: what is in the file cannot take the place of what is here")
    print_line(summary(imported, "en"))
    if imported.removed:
        print_line(f"{'removed' if imported.written else 'to be removed'}: {imported.removed}")
    for line in report_lines(imported, len(imported.lines) + len(imported.notes)):
        print_line(printable(f"  {line}"))
    return code
