"""`isthmus tools list` and `isthmus tools call`: the model's tools, from outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent.cli.errors import FAILED, OK, WRONG_CALL, CallRefused
from agent.cli.options import (
    ChannelOption,
    ConfigOption,
    DataOption,
    JsonOption,
    NowOption,
    PersonaOption,
    PersonOption,
    ServerOption,
    parse_now,
)
from agent.cli.output import print_json, print_table

if TYPE_CHECKING:
    from datetime import datetime

    from agent.cli.where import Asked
    from agent.settings import LoadedSettings

app = typer.Typer(help="The tools that the model may call.", no_args_is_help=True)


@app.command("list")
def list_tools(config: ConfigOption = None, data: DataOption = None, as_json: JsonOption = False) -> int:
    """Show every tool: its name, the plugin that brings it, and when the model is told to call it."""
    from agent.cli.opened import complete, load

    return complete(_list(load(config, data), as_json=as_json))


@app.command("call")
def call_tool(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The tool, as `isthmus tools list` shows it.")],
    arguments: Annotated[str, typer.Argument(metavar="JSON", help="Its arguments as one JSON object.")],
    config: ConfigOption = None,
    data: DataOption = None,
    server: ServerOption = None,
    channel: ChannelOption = None,
    person: PersonOption = None,
    persona: PersonaOption = None,
    now: NowOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, as it is done anyway.", hidden=True)] = True,  # noqa: ARG001
) -> int:
    """Run a tool as the model would in that place, for that person, and print its result as JSON."""
    from agent.cli.opened import complete, load
    from agent.cli.where import Asked

    moment = parse_now(now)
    _check_object(arguments)
    call = _Call(name, arguments, Asked(server, channel, person), persona)
    return complete(_call(load(config, data), call, moment))


@dataclass(frozen=True, slots=True)
class _Call:
    """A tool, its arguments as JSON, and where and for whom it runs."""

    name: str
    arguments: str
    asked: Asked
    persona: str | None


def _check_object(text: str) -> None:
    import json

    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CallRefused(f"the arguments are no JSON: {error}") from None
    if not isinstance(value, dict):
        raise CallRefused('the arguments are no JSON object: expected one like {"content": "…"}')


async def _list(loaded: LoadedSettings, *, as_json: bool) -> int:
    from agent.cli.opened import opened_agent

    async with opened_agent(loaded) as agent:
        tools = list(agent.tools)
    if as_json:
        print_json(
            [
                {
                    "name": tool.name,
                    "plugin": tool.owner,
                    "description": tool.description,
                    "parameters": tool.parameters.model_json_schema(),
                }
                for tool in tools
            ]
        )
    else:
        print_table(("tool", "plugin", "description"), [(tool.name, tool.owner, tool.description) for tool in tools])
    return OK


async def _call(loaded: LoadedSettings, call: _Call, now: datetime | None) -> int:
    from agent.cli.opened import opened_agent
    from agent.cli.where import find_place
    from agent.personas.rules import PersonaRefused
    from agent.tool_runner import TOOL_FAILED

    async with opened_agent(loaded, now) as agent:
        tool = agent.tools.get(call.name)
        if tool is None:
            near = agent.tools.nearest(call.name)
            suggestion = f" (did you mean {near}?)" if near else ""
            raise CallRefused(f"there is no tool {call.name[:64]!r}{suggestion}; `isthmus tools list` shows them")
        spot = await find_place(agent.core.store, call.asked)
        try:
            result, _cards = await agent.call_tool(
                call.name, call.arguments, spot.server, spot.channel, spot.author, persona=call.persona
            )
        except PersonaRefused as refused:
            raise CallRefused(str(refused)) from None
    shown: dict[str, Any] = result.as_json()
    print_json(shown)
    if result.status == TOOL_FAILED:
        return FAILED
    return WRONG_CALL if result.status == tool.invalid_status and "problems" in result.data else OK
