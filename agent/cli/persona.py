"""`isthmus persona …`: the personas of a server, and the lineages that their memories belong to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent.cli.errors import OK, CallRefused
from agent.cli.options import ConfigOption, DataOption, JsonOption, ServerOption
from agent.cli.output import print_json, print_line, print_table
from agent.printing import printable
from agent.text import one_line

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agent.app import Agent
    from agent.contracts.people import Persona
    from agent.personas.changes import Changed, PersonaChanges

app = typer.Typer(help="The personas of a server, and whose memories they share.", no_args_is_help=True)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="A persona of the server.")]


@app.command("list")
def list_personas(
    config: ConfigOption = None, data: DataOption = None, server: ServerOption = None, as_json: JsonOption = False
) -> int:
    """Show every persona: its lineage, its triggers, and which one answers by default."""

    async def work(at: _Desk) -> int:
        from agent.personas.showing import as_data

        personas = await at.agent.core.personas.for_server(at.server_id)
        if as_json:
            print_json([as_data(persona) for persona in personas])
        else:
            rows = [
                (each.nickname, "default" if each.is_default else "", str(each.lineage_id), ", ".join(each.triggers))
                for each in personas
            ]
            print_table(("persona", "", "lineage", "triggers"), rows)
        return OK

    return _run(config, data, server, work)


@app.command("create")
def create(
    name: NameArgument,
    config: ConfigOption = None,
    data: DataOption = None,
    server: ServerOption = None,
    prompt: Annotated[
        str | None,
        typer.Option("--prompt", metavar="TEXT", help="Who it is; {bot} stands for its name. Left out: the default's."),
    ] = None,
    prompt_file: Annotated[
        Path | None, typer.Option("--prompt-file", metavar="FILE", help="The same from a text file.")
    ] = None,
    trigger: Annotated[
        list[str] | None, typer.Option("--trigger", metavar="WORD", help="Calls it besides its name; may be repeated.")
    ] = None,
    avatar: Annotated[str | None, typer.Option("--avatar", metavar="URL", help="The address of its picture.")] = None,
    as_json: JsonOption = False,
) -> int:
    """Make a persona with memories of its own."""
    text = _prompt(prompt, prompt_file)

    async def work(at: _Desk) -> int:
        from agent.personas.rules import Draft

        persona = await at.changes.create(at.server_id, Draft(name, text, avatar, tuple(trigger or ())))
        return await _told(at, persona, f"{persona.nickname} is here, with lineage {persona.lineage_id}.", as_json)

    return _run(config, data, server, work)


@app.command("rename")
def rename(
    name: NameArgument,
    new_name: Annotated[str, typer.Argument(metavar="NEW_NAME")],
    config: ConfigOption = None,
    data: DataOption = None,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> int:
    """Give a persona another name."""

    async def work(at: _Desk) -> int:
        changed = await at.changes.rename(at.server_id, name, new_name)
        text = f"{changed.before.nickname} is called {changed.after.nickname} now."
        return await _told(at, changed.after, text, as_json)

    return _run(config, data, server, work)


@app.command("default")
def default(
    name: NameArgument,
    config: ConfigOption = None,
    data: DataOption = None,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> int:
    """Make a persona the one that answers by default; no memories move."""

    async def work(at: _Desk) -> int:
        changed = await at.changes.make_default(at.server_id, name)
        return await _told(at, changed.after, f"{changed.after.nickname} answers by default now.", as_json)

    return _run(config, data, server, work)


@app.command("share-lineage")
def share_lineage(
    name: NameArgument,
    other: Annotated[
        str | None, typer.Argument(metavar="[OTHER]", help="The persona whose memories it shall share.")
    ] = None,
    config: ConfigOption = None,
    data: DataOption = None,
    server: ServerOption = None,
    other_server: Annotated[
        str | None,
        typer.Option("--other-server", metavar="SERVER", help="The server of OTHER.", show_default="the same"),
    ] = None,
    lineage: Annotated[
        int | None, typer.Option("--lineage", metavar="ID", help="A lineage by its number, instead of OTHER.")
    ] = None,
    as_json: JsonOption = False,
) -> int:
    """Let a persona share the memories of another one, of any server; without OTHER it gets memories of its own."""
    if other is None and other_server is not None:
        raise CallRefused("--other-server is where OTHER is: name that persona too")
    if other is not None and lineage is not None:
        raise CallRefused("OTHER and --lineage say the same thing: give one of them")

    async def work(at: _Desk) -> int:
        changed = await _share(at, name, other, other_server, lineage)
        text = f"{changed.after.nickname} belongs to lineage {changed.after.lineage_id} now."
        return await _told(at, changed.after, text, as_json, left=changed)

    return _run(config, data, server, work)


@app.command("delete")
def delete(
    name: NameArgument,
    config: ConfigOption = None,
    data: DataOption = None,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> int:
    """Delete a persona; its memories stay with its lineage."""

    async def work(at: _Desk) -> int:
        from agent.personas.keeping import kept_in, kept_text
        from agent.personas.showing import as_data, sharers

        persona = await at.changes.delete(at.server_id, name)
        kept = await kept_in(at.agent.core.hooks, persona)
        if as_json:
            print_json({**as_data(persona), "kept": kept})
            return OK
        _say(f"{persona.nickname} is gone.")
        sharing = sharers(persona, await at.agent.core.personas.for_server(at.server_id))
        if not kept:
            _say("It had learned nothing there.")
        elif sharing:
            _say(f"What it remembers stays with {', '.join(sharing)} ({kept_text(kept)}).")
        else:
            _say(f"What it remembers stays with lineage {persona.lineage_id} ({kept_text(kept)}).")
            _say(f"To have it back: isthmus persona share-lineage NAME --lineage {persona.lineage_id}")
        return OK

    return _run(config, data, server, work)


class _Desk:
    """A running agent, and the server whose personas are meant."""

    def __init__(self, agent: Agent, changes: PersonaChanges, server_id: int) -> None:
        self.agent = agent
        self.changes = changes
        self.server_id = server_id


def _run(config: Path | None, data: Path | None, server: str | None, work: Callable[[_Desk], Awaitable[int]]) -> int:
    from agent.cli.opened import complete, load

    return complete(_work(load(config, data), server, work))


async def _work(loaded: Any, server: str | None, work: Callable[[_Desk], Awaitable[int]]) -> int:
    from agent.cli.opened import opened_agent
    from agent.personas.changes import PersonaChanges
    from agent.personas.rules import PersonaRefused

    async with opened_agent(loaded) as agent:
        try:
            return await work(_Desk(agent, PersonaChanges.of(agent.core), await _server_id(agent, server)))
        except PersonaRefused as refused:
            raise CallRefused(str(refused)) from None


async def _server_id(agent: Agent, server: str | None) -> int:
    """Return the row of a server; a server of the terminal is made when it is named for the first time."""
    from agent.cli.where import Asked, find_place, find_server_id

    spot = await find_place(agent.core.store, Asked(server))
    known = await find_server_id(agent.core.store, spot.server)
    if known is not None:
        return known
    entrance = await agent.core.people.enter(spot.server, spot.channel, spot.author, agent.core.clock.now())
    return entrance.place.server.server_id


async def _share(at: _Desk, name: str, other: str | None, other_server: str | None, lineage: int | None) -> Changed:
    from agent.personas.rules import find

    if lineage is not None:
        return await at.changes.share_lineage(at.server_id, name, lineage)
    if other is None:
        return await at.changes.part(at.server_id, name)
    if other_server is None:
        return await at.changes.share_with(at.server_id, name, other)
    personas = await at.agent.core.personas.for_server(await _server_id(at.agent, other_server))
    return await at.changes.share_lineage(at.server_id, name, find(personas, other).lineage_id)


async def _told(at: _Desk, persona: Persona, text: str, as_json: bool, left: Changed | None = None) -> int:
    """Print a persona as it is now, with what has stayed behind in the lineage that it left."""
    from agent.personas.commands import is_name_of_member
    from agent.personas.keeping import kept_in, kept_text
    from agent.personas.showing import as_data

    kept: dict[str, int] = {}
    if left is not None and left.before.lineage_id != left.after.lineage_id:
        kept = await kept_in(at.agent.core.hooks, left.before)
    if as_json:
        print_json({**as_data(persona), **({"kept": kept} if kept else {})})
        return OK
    _say(text)
    if left is not None and kept:
        _say(f"What it has learned until now stays with lineage {left.before.lineage_id} ({kept_text(kept)}).")
    if await is_name_of_member(at.agent.core, persona):
        _say("Somebody there bears that name too: where only the name is written, nobody is taken to be meant.")
    return OK


def _say(text: str) -> None:
    print_line(one_line(printable(text)))


def _prompt(text: str | None, file: Path | None) -> str | None:
    if file is None:
        return text
    if text is not None:
        raise CallRefused("--prompt and --prompt-file say the same thing: give one of them")
    try:
        return file.expanduser().read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no UTF-8 text"
        raise CallRefused(f"--prompt-file {file}: {reason}") from None
