"""What a typed line asks for: a command, help, or nothing; pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.arguments import ArgumentsRefused, Words, find_command, read_arguments, usage
from agent.catalog import translate
from agent.commands import Command, OptionKind

if TYPE_CHECKING:
    from agent.commands import Option

_MOST = 60


@dataclass(frozen=True, slots=True)
class Run:
    """A command with its options."""

    command: Command
    options: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Help:
    """Something to be told, only to whoever asked."""

    text: str
    ok: bool = True


@dataclass(frozen=True, slots=True)
class Given:
    """What came with a line: the message that it answers, and a file."""

    message: Any = None
    file: Any = None


def asked_in(
    text: str, commands: Sequence[Command], words: Words, given: Given, *, prefix: str, locale: str
) -> Run | Help | None:
    """Return what a message asks for; None when it is no command."""
    line = text.strip()
    if not line.startswith(prefix):
        return None
    line = line[len(prefix) :]
    first = line.split(maxsplit=1)[0].casefold() if line.split() else ""
    if first == "help":
        return Help(help_text(commands, line.partition(" ")[2].split(), prefix, locale))
    found = find_command(_on_one_line(line), commands)
    if found is None:
        if any(command.path[0] == first for command in commands):
            return Help(help_text(commands, line.split(), prefix, locale), ok=False)
        return None
    command, _ = found
    rest = line.split(maxsplit=len(command.path))
    behind = rest[len(command.path)] if len(rest) > len(command.path) else ""
    try:
        options = read_arguments(command, behind, words, prefix=prefix, given=_given(command.options, given, behind))
    except ArgumentsRefused as refused:
        return Help(str(refused), ok=False)
    return Run(command, options)


def _on_one_line(line: str) -> str:
    """Return a line whose words stand apart by single spaces, as a command's path is looked for."""
    return " ".join(line.split())


def _given(options: Sequence[Option], given: Given, typed: str) -> Mapping[str, Any]:
    """Return the options that are not typed: the file, and the message that is answered."""
    found: dict[str, Any] = {}
    for option in options:
        if option.kind is OptionKind.FILE and given.file is not None:
            found[option.name] = given.file
        elif option.kind is OptionKind.MESSAGE and given.message is not None:
            found[option.name] = given.message
        elif option.kind is OptionKind.MESSAGE and option.required and not typed.startswith("$"):
            raise ArgumentsRefused(f"{option.name}: reply to the message that you mean")
    return found


def help_text(commands: Sequence[Command], path: Sequence[str], prefix: str, locale: str) -> str:
    """Return what can be typed: the groups, or everything that begins with a path."""
    wanted = tuple(word.casefold().removeprefix(prefix) for word in path)
    while wanted and not any(command.path[: len(wanted)] == wanted for command in commands):
        wanted = wanted[:-1]
    if not wanted:
        example = f"{prefix}help …"
        groups = sorted({command.path[0] for command in commands})
        head = translate(locale, "Commands begin with {prefix}. More about one: {help}", prefix=prefix, help=example)
        return "\n".join([head, *(f"{prefix}{group}" for group in groups)])
    found = [command for command in commands if command.path[: len(wanted)] == wanted]
    lines = [f"{usage(command, prefix)}\n    {translate(locale, command.description)}" for command in found[:_MOST]]
    if len(found) == 1:
        lines += [_option_line(option, locale) for option in found[0].options if not option.hidden]
    return "\n".join(lines)


def _option_line(option: Option, locale: str) -> str:
    choices = f" ({', '.join(option.choices)})" if option.choices else ""
    return f"    {option.name.upper()}: {translate(locale, option.description)}{choices}"
