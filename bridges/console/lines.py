"""What one typed line means: something said, a move to another place, or a command. Pure functions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from agent.terminal import NameRefused, Whereabouts, id_of, person_name
from bridges.console.arguments import ArgumentsRefused, find_command, read_arguments

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from agent.commands import Command


@dataclass(frozen=True, slots=True)
class Say:
    """Somebody says something."""

    where: Whereabouts
    text: str


@dataclass(frozen=True, slots=True)
class Move:
    """The lines that follow are said by somebody else, or somewhere else."""

    where: Whereabouts


@dataclass(frozen=True, slots=True)
class Run:
    """A command of the core or of a plugin."""

    where: Whereabouts
    text: str
    command: Command
    options: dict[str, Any]


class Local(StrEnum):
    """A command of the terminal itself."""

    HELP = "help"
    QUIT = "quit"


@dataclass(frozen=True, slots=True)
class Nothing:
    """An empty line, or a comment."""


type Action = Say | Move | Run | Local | Nothing


class LineRefused(Exception):
    """A line that means nothing; the text says why and what would be right."""


@dataclass(frozen=True, slots=True)
class LocalCommand:
    """How a command of the terminal is shown in the help."""

    usage: str
    description: str


LOCAL_COMMANDS: Final[dict[str, LocalCommand]] = {
    "as": LocalCommand("/as NAME", "Speak as somebody else; `ana: hello` does it for one line."),
    "server": LocalCommand("/server NAME", "Go to another server."),
    "channel": LocalCommand("/channel NAME", "Go to another channel of this server."),
    "thread": LocalCommand("/thread [NAME]", "Go into a thread of this channel; without a name, leave it."),
    "dm": LocalCommand("/dm", "Speak with the agent alone; /channel or /server lead back."),
    "help": LocalCommand("/help", "Show this."),
    "quit": LocalCommand("/quit", "Leave."),
}
_ALIASES: Final = {"exit": "quit", "?": "help"}
_MAX_SPEAKER: Final = 32
_SPEAKER: Final = re.compile(r"(?P<name>[^\W_][\w .'-]{0,31}?)\s*:\s+(?P<text>\S.*)", re.DOTALL)
_NO_SPEAKER: Final = frozenset({"http", "https", "ftp", "mailto", "file"})


def parse_line(line: str, where: Whereabouts, commands: Sequence[Command] = (), known: Collection[str] = ()) -> Action:
    """Read one line.

    `/…` is a command, `#…` a comment, `NAME: …` is said by NAME; a backslash before any of these says it as it is.

    Args:
        line: The line, without its line break.
        where: Who speaks, and where.
        commands: What the core and the plugins offer.
        known: Ids of people who have spoken: their names may be of several words whatever they look like.

    Raises:
        LineRefused: an unknown command, or arguments that do not fit.
    """
    text = line.strip()
    if not text or text.startswith("#"):
        return Nothing()
    if text.startswith("\\") and _is_special(text[1:], known):
        return Say(where, text[1:])
    if text.startswith("/"):
        return _command(text, where, commands)
    name, rest = _speaker(text, known)
    return Say(where, text) if name is None else Say(where.spoken_by(name), rest)


def _is_special(text: str, known: Collection[str]) -> bool:
    return text.startswith(("/", "#", "\\")) or _speaker(text, known)[0] is not None


def _speaker(text: str, known: Collection[str]) -> tuple[str | None, str]:
    """Split `NAME: text`; (None, text) when it does not begin with a name."""
    found = _SPEAKER.fullmatch(text)
    if found is None or len(found["name"]) > _MAX_SPEAKER:
        return None, text
    name = found["name"]
    if name.casefold() in _NO_SPEAKER or not (id_of(name) in known or _looks_like_a_name(name)):
        return None, text
    return person_name(name), found["text"]


def _looks_like_a_name(name: str) -> bool:
    """Tell `Ana Maria` from the beginning of a sentence: each further word begins like a name or a number."""
    return all(not word[0].islower() for word in name.split()[1:])


def _command(text: str, where: Whereabouts, commands: Sequence[Command]) -> Action:
    words = text[1:].split()
    first = words[0].casefold() if words else ""
    first = _ALIASES.get(first, first)
    found = find_command(text[1:], commands)
    try:
        if found is not None:
            command, rest = found
            return Run(where, text, command, read_arguments(command, rest, where))
        if first in LOCAL_COMMANDS:
            return _local(first, text[1:].strip()[len(words[0]) :].strip(), where)
    except (ArgumentsRefused, NameRefused) as error:
        raise LineRefused(str(error)) from None
    raise LineRefused(_unknown(text, first, commands))


def _local(name: str, argument: str, where: Whereabouts) -> Action:
    if name in set(Local):
        return Local(name)
    if name == "dm":
        return Move(where.in_direct())
    if name == "thread":
        if where.direct:
            raise LineRefused("there are no threads in a direct conversation; /channel leads back")
        return Move(where.in_thread(argument or None))
    if not argument:
        raise LineRefused(f"usage: {LOCAL_COMMANDS[name].usage}")
    if name == "as":
        return Move(where.spoken_by(argument))
    return Move(where.in_server(argument) if name == "server" else where.in_channel(argument))


def _unknown(text: str, first: str, commands: Sequence[Command]) -> str:
    group = [" ".join(command.path) for command in commands if command.path[0].casefold() == first]
    if group:
        return f"/{first} goes on with one of: {', '.join(f'/{path}' for path in sorted(group))}"
    from difflib import get_close_matches

    names = {*LOCAL_COMMANDS, *(command.path[0] for command in commands)}
    near = get_close_matches(first, sorted(names), n=1)
    suggestion = f" (did you mean /{near[0]}?)" if near else ""
    shown = text.split(maxsplit=1)[0]
    return f"no command {shown[:40]}{suggestion}; /help lists them, and \\{shown[:40]} says it as a message"
