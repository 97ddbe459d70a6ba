"""`isthmus memory`: what an operator sees of the memories of a server or a person."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from agent.cli.errors import OK, CallRefused
from agent.cli.options import ConfigOption, DataOption, JsonOption, NowOption, ServerOption, parse_now
from agent.cli.output import print_json, print_line, print_table

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from agent.app import Agent
    from plugins.memory.settings import MemorySettings

app = typer.Typer(
    help="What is remembered: list, search and show it, count it, and its settings.", no_args_is_help=True
)

UserOption = Annotated[
    str | None,
    typer.Option("--user", metavar="USER", help="platform:id, or a name that is unique.", show_default=False),
]
PersonaFilter = Annotated[
    str | None, typer.Option("--persona", metavar="NAME", help="Only what this persona knows.", show_default="all")
]
_MOST_ID: Final = 2**63 - 1
_WIDTH: Final = 200

type Choose = Callable[[Sequence[dict[str, Any]]], Sequence[dict[str, Any]]]
"""Picks rows of those that were read, and puts them in order."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The options that every command takes."""

    config: Path | None
    data: Path | None
    server: str | None
    user: str | None
    persona: str | None
    now: str | None
    via: str


@dataclass(frozen=True, slots=True)
class Found:
    """Where to look; None: nowhere, as for a server that nobody has entered."""

    agent: Agent
    settings: MemorySettings
    server_id: int | None
    user_id: int | None
    lineage_id: int | None


@app.command("list")
def list_memories(
    config: ConfigOption = None,
    data: DataOption = None,
    server: ServerOption = None,
    user: UserOption = None,
    persona: PersonaFilter = None,
    now: NowOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show the memories of a server, or those about a person; with both options both."""
    asked = Asked(config, data, server, user, persona, now, "isthmus memory list")

    async def work(at: Found) -> int:
        return _print(await _read(at, asked), _where(at, asked), as_json=as_json)

    return _run(asked, work)


@app.command("search")
def search(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to look for.")],
    config: ConfigOption = None,
    data: DataOption = None,
    server: ServerOption = None,
    user: UserOption = None,
    persona: PersonaFilter = None,
    now: NowOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show those that hold words of TEXT, or words written almost alike, the best first."""
    from plugins.memory.finding import lexical_scores

    asked = Asked(config, data, server, user, persona, now, "isthmus memory search")
    if not text.strip():
        raise CallRefused("TEXT cannot be empty")

    def best(rows: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
        scores = lexical_scores(text, [row["content"] for row in rows])
        return [rows[place] for place in sorted(scores, key=lambda place: (-scores[place], place))]

    async def work(at: Found) -> int:
        return _print(await _read(at, asked, best), _where(at, asked), as_json=as_json)

    return _run(asked, work)


@app.command("show")
def show(
    memory_id: Annotated[int, typer.Argument(metavar="ID", help="The id of a memory.", min=1, max=_MOST_ID)],
    config: ConfigOption = None,
    data: DataOption = None,
    now: NowOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show one memory with everything that is known of where it comes from."""
    asked = Asked(config, data, None, None, None, now, "isthmus memory show")

    async def work(at: Found) -> int:
        found = await _read(replace(at, server_id=None), asked, memory_id=memory_id)
        if not found:
            raise CallRefused(f"ID {memory_id}: there is no such memory")
        if as_json:
            print_json(found[0])
        else:
            print_table(("field", "value"), [(key, _cell(value)) for key, value in found[0].items()])
        return OK

    return _run(asked, work)


@app.command("stats")
def stats(
    config: ConfigOption = None,
    data: DataOption = None,
    server: ServerOption = None,
    user: UserOption = None,
    persona: PersonaFilter = None,
    now: NowOption = None,
    as_json: JsonOption = False,
) -> int:
    """Count memories: of all servers and people, or of those that are named."""
    asked = Asked(config, data, server, user, persona, now, "isthmus memory stats")

    async def work(at: Found) -> int:
        from plugins.memory.cli_rows import counts

        # -1 is nobody's id: where a server was named that is not known there is nothing to count.
        server_id = None if server is None and persona is None else at.server_id or -1
        core, days = at.agent.core, at.settings.decay.days
        rows = await counts(core.store, (server_id, at.user_id, at.lineage_id), core.clock.now(), days)
        if as_json:
            print_json(rows)
        else:
            columns = tuple(rows[0])
            print_table(columns, [tuple(_cell(row[column]) for column in columns) for row in rows])
        return OK

    return _run(asked, work)


@app.command("settings")
def settings(
    config: ConfigOption = None, data: DataOption = None, server: ServerOption = None, as_json: JsonOption = False
) -> int:
    """Show caps and decay of the deployment, and what a server has switched."""
    asked = Asked(config, data, server, None, None, None, "isthmus memory settings")

    async def work(at: Found) -> int:
        from agent.preferences import resolve
        from agent.preferences_repository import read_rows

        async with at.agent.core.store.connection() as conn:
            rows = await read_rows(conn, at.server_id, None)
        states = {
            preference.key: resolve(preference, rows.server, {}).value
            for preference in at.agent.core.preferences
            if preference.key.startswith("memory.")
        }
        values = {**_figures(at.settings), **states}
        if as_json:
            print_json(values)
        else:
            print_table(("setting", "value"), [(key, _cell(value)) for key, value in values.items()])
        return OK

    return _run(asked, work)


def _run(asked: Asked, work: Callable[[Found], Awaitable[int]]) -> int:
    from agent.cli.opened import complete

    return complete(_opened(asked, work))


async def _opened(asked: Asked, work: Callable[[Found], Awaitable[int]]) -> int:
    from agent.cli.opened import load, opened_agent
    from plugins.memory.settings import MemorySettings

    now, loaded = parse_now(asked.now), load(asked.config, asked.data)
    settings = loaded.validate_section(loaded.settings.plugins["memory"], MemorySettings, ("plugins", "memory"))
    async with opened_agent(loaded, now) as agent:
        return await work(await _find(agent, settings, asked))


async def _find(agent: Agent, settings: MemorySettings, asked: Asked) -> Found:
    """Return where to look.

    Raises:
        CallRefused: nobody is known under a name, or several are.
    """
    from agent.cli.where import Asked as Named
    from agent.cli.where import find_account, find_place, find_server_id
    from agent.personas.rules import PersonaRefused, find
    from plugins.memory.cli_rows import user_of

    store = agent.core.store
    user_id = lineage_id = None
    if asked.user is not None:
        user_id = await user_of(store, await find_account(store, asked.user))
        if user_id is None:
            raise CallRefused(f"--user {asked.user}: this account owns no memories")
    server_id = await find_server_id(store, (await find_place(store, Named(server=asked.server))).server)
    if asked.persona is not None:
        if server_id is None:
            raise CallRefused("--persona: nobody has entered that server yet, so it has no personas")
        try:
            lineage_id = find(await agent.core.personas.for_server(server_id), asked.persona).lineage_id
        except PersonaRefused as refused:
            raise CallRefused(f"--persona: {refused}") from None
    return Found(agent, settings, server_id, user_id, lineage_id)


async def _read(
    at: Found, asked: Asked, choose: Choose = lambda rows: rows, memory_id: int | None = None
) -> Sequence[dict[str, Any]]:
    """Return memories as data, and write down for the people whom they are about that an operator looked."""
    from plugins.memory.cli_rows import memories, record_looks

    core = at.agent.core
    server_id = None if asked.user is not None and asked.server is None else at.server_id
    days = at.settings.decay.days if at.settings.decay.enabled else None
    rows = await memories(core.store, (server_id, at.user_id, memory_id, at.lineage_id), core.clock.now(), days)
    found = choose(rows)
    await record_looks(core.audit, found, asked.via, core.clock.now())
    return found


def _figures(settings: MemorySettings) -> dict[str, Any]:
    """Return the settings of the plugin that are in force."""
    decay = settings.decay
    return {**settings.model_dump(exclude={"decay"}), "decay_enabled": decay.enabled, "decay_days": decay.days}


def _where(at: Found, asked: Asked) -> str:
    """Return why nothing may be found there."""
    unknown = asked.server is not None and at.server_id is None
    return f": nobody has entered the server {asked.server} yet" if unknown else ""


def _print(found: Sequence[dict[str, Any]], where: str, *, as_json: bool) -> int:
    if as_json:
        print_json(found)
    elif not found:
        print_line(f"nothing is remembered there{where}")
    else:
        rows = [(str(one["memory_id"]), one["scope"], _state(one), one["content"][:_WIDTH]) for one in found]
        print_table(("id", "scope", "state", "content"), rows)
    return OK


def _state(one: dict[str, Any]) -> str:
    words = [f"{one['age_days']} d", *(word for word in ("dormant", "protected") if one[word])]
    if one["persona_lineage_id"] == 0:
        words.append("global")
    if one["channels_pending"]:
        words.append("channels pending")
    return ", ".join([*words, *one["channels"]])


def _cell(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    return "-" if value is None else str(value)
