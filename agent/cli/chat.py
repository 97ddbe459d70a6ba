"""`isthmus chat`: the agent in a terminal, or a script of lines said to it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, cast

import typer

from agent.cli.errors import CallRefused, CommandFailed
from agent.cli.options import ConfigOption, DataOption, NowOption, PersonaOption, parse_now

if TYPE_CHECKING:
    from agent.chat import RunChat
    from agent.settings import LoadedSettings
    from agent.terminal import Whereabouts

CHAT_BRIDGE: Final = "console"
"""The bridge that `chat` brings its own front end for; it does nothing in `run`."""


def chat(
    config: ConfigOption = None,
    data: DataOption = None,
    speaker: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Who speaks.", show_default="your user name")
    ] = None,
    server: Annotated[str | None, typer.Option("--server", metavar="NAME", help="Where.", show_default="home")] = None,
    channel: Annotated[
        str | None, typer.Option("--channel", metavar="NAME", help="Where in the server.", show_default="general")
    ] = None,
    direct: Annotated[bool, typer.Option("--dm", help="Speak with the agent alone.")] = False,
    script: Annotated[
        Path | None,
        typer.Option("--script", metavar="FILE", help="Say the lines of a file; - for standard input."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the transcript as one JSON object a line.")] = False,
    persona: PersonaOption = None,
    now: NowOption = None,
) -> int:
    """Talk with the agent in this terminal.

    A line `ana: hello` is said by ana; /help shows what else can be typed. Lines come from a script when --script is
    given or when standard input is no terminal.
    """
    import sys

    from agent.chat import ChatOptions
    from agent.cli.opened import complete, load, logged
    from agent.clock import ShiftedClock
    from agent.personas.rules import PersonaRefused

    moment = parse_now(now)
    start = _start(speaker, server, channel, direct=direct)
    if as_json and script is None and sys.stdin.isatty():
        raise CallRefused("--json goes with --script FILE, or with lines on standard input")
    loaded = load(config, data)
    run_chat = _front_end(loaded)
    clock = None if moment is None else ShiftedClock(moment)
    with logged(loaded):
        try:
            return complete(run_chat(loaded, ChatOptions(start, script, as_json, clock, persona)))
        except PersonaRefused as refused:
            raise CallRefused(str(refused)) from None


def _start(speaker: str | None, server: str | None, channel: str | None, *, direct: bool) -> Whereabouts:
    from agent.terminal import NameRefused, Whereabouts, system_user

    if direct and (server is not None or channel is not None):
        raise CallRefused("--dm is a place of its own: leave --server and --channel out")
    try:
        where = Whereabouts(system_user(os.environ))
        where = where if speaker is None else where.spoken_by(speaker.removeprefix(f"{CHAT_BRIDGE}:"))
        where = where if server is None else where.in_server(server.removeprefix(f"{CHAT_BRIDGE}:"))
        where = where if channel is None else where.in_channel(channel.removeprefix(f"{CHAT_BRIDGE}:"))
    except NameRefused as error:
        raise CallRefused(str(error)) from None
    return where.in_direct() if direct else where


def _front_end(loaded: LoadedSettings) -> RunChat:
    """Return the front end of the bridge `console`, or of the module that the settings name for it."""
    import importlib

    section = loaded.settings.bridges.get(CHAT_BRIDGE)
    name = (section.module if section else None) or f"bridges.{CHAT_BRIDGE}"
    try:
        module = importlib.import_module(name)
        return cast("RunChat", module.run_chat)
    except (ImportError, AttributeError) as error:
        raise CommandFailed(f"there is no chat in this installation: {name}: {error}; reinstall isthmus") from error
