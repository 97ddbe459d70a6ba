"""Finds a command in a typed line and reads its options, for bridges where commands are typed. Pure functions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, Protocol

from agent.commands import Command, Option, OptionKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.identity.keys import ParticipantKey

_TRUE: Final = frozenset({"true", "yes", "on", "1"})
_FALSE: Final = frozenset({"false", "no", "off", "0"})
_WORD: Final = re.compile(r"""\s*((?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+)""", re.DOTALL)
_PIECE: Final = re.compile(r"""\\(.)|"((?:[^"\\]|\\.)*)"|'([^']*)'|([^"'\\]+)""", re.DOTALL)


class Words(Protocol):
    """How a platform's people write what is no text; each raises ValueError, in words, for what is none."""

    def person(self, word: str) -> ParticipantKey:
        """Return who is meant."""
        ...

    def channel(self, word: str) -> str:
        """Return the id of the channel that is meant."""
        ...

    def file(self, word: str) -> Any:
        """Return the file that is meant."""
        ...


class ArgumentsRefused(Exception):
    """Arguments that do not fit a command; the text says why, with the usage."""


def find_command(text: str, commands: Sequence[Command]) -> tuple[Command, str] | None:
    """Return the command with the longest path that begins `text`, and what follows; None when none does."""
    best: tuple[Command, str] | None = None
    for command in commands:
        rest: str | None = text.lstrip()
        for part in command.path:
            rest = _after(rest, part) if rest is not None else None
        if rest is not None and (best is None or len(command.path) > len(best[0].path)):
            best = command, rest
    return best


def _after(text: str, word: str) -> str | None:
    first, _, rest = text.partition(" ")
    return rest.lstrip() if first.casefold() == word.casefold() else None


def usage(command: Command, prefix: str = "/") -> str:
    """Return how a command is typed: `/personal memories add CONTENT [TAG]`; elsewhere it begins otherwise."""
    options = [option for option in command.options if not option.hidden]
    names = [_usage_of(option) for option in options]
    return " ".join([f"{prefix}{' '.join(command.path)}", *names])


def _usage_of(option: Option) -> str:
    name = option.name.upper()
    if option.named_only:
        return f"[{option.name}={name}]"
    return name if option.required else f"[{name}]"


def read_arguments(
    command: Command, text: str, words: Words, *, prefix: str = "/", given: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Read a command's options from the text behind it.

    Options come in order, quoted as in a shell, or as `name=value`. The last one, when it is a text without
    choices, takes the rest of the line as it stands.

    Args:
        command: The command.
        text: What follows its path.
        words: How people, channels and files are written.
        prefix: What commands begin with, to tell how this one is typed.
        given: Options that came otherwise, such as a file that was sent along: these are not typed.

    Raises:
        ArgumentsRefused: one is missing, too many, or of another kind.
    """
    values: dict[str, Any] = dict(given or {})
    rest = text.strip()
    waiting = [option for option in command.options if not option.hidden and option.name not in values]
    last = next((option for option in reversed(waiting) if not option.named_only), None)
    told = usage(command, prefix)
    while rest and (following := _next_option(waiting, rest)) is not None:
        option, rest = following
        waiting.remove(option)
        if option is last and _takes_rest(option):
            word, rest = _rest(rest), ""
        elif option.takes_rest and rest[:1] not in {'"', "'"}:
            word, rest = rest, ""
        else:
            word, rest = _word(rest, told)
        values[option.name] = _value(option, word, words, told)
    if rest:
        raise ArgumentsRefused(f"too many arguments at “{rest[:40]}”; usage: {told}")
    missing = [option.name for option in waiting if option.required]
    if missing:
        raise ArgumentsRefused(f"missing {', '.join(missing)}; usage: {told}")
    return values


def _takes_rest(option: Option) -> bool:
    return option.kind is OptionKind.TEXT and not option.choices


def _next_option(waiting: Sequence[Option], rest: str) -> tuple[Option, str] | None:
    """Return the option that is named next (`name=`), else the first that waits and need not be named."""
    for option in waiting:
        if rest.startswith(f"{option.name}="):
            return option, rest[len(option.name) + 1 :]
    first = next((option for option in waiting if not option.named_only), None)
    return None if first is None else (first, rest)


def _rest(text: str) -> str:
    """Return the rest of a line; when all of it is one quoted text, what stands in the quotes."""
    found = _WORD.fullmatch(text)
    return _unquoted(found[1]) if found and text[:1] in {'"', "'"} and text[-1:] == text[:1] else text


def _word(text: str, told: str) -> tuple[str, str]:
    found = _WORD.match(text)
    if found is None or (found.end() < len(text) and not text[found.end()].isspace()):
        raise ArgumentsRefused(f"a quotation mark is not closed in “{text[:40]}”; usage: {told}")
    return _unquoted(found[1]), text[found.end() :].strip()


def _unquoted(word: str) -> str:
    def piece(found: re.Match[str]) -> str:
        if found[2] is not None:
            return re.sub(r'\\(["\\])', r"\1", found[2])
        return next(group for group in (found[1], found[3], found[4]) if group is not None)

    return _PIECE.sub(piece, word)


def _value(option: Option, word: str, words: Words, told: str) -> Any:
    try:
        value = _converted(option, word, words)
    except ValueError as error:
        raise ArgumentsRefused(f"{option.name}: {error}; usage: {told}") from None
    if option.choices and word not in option.choices:
        raise ArgumentsRefused(f"{option.name}: expected one of {', '.join(option.choices)}; got “{word[:40]}”")
    return value


def _converted(option: Option, word: str, words: Words) -> Any:
    match option.kind:
        case OptionKind.INTEGER:
            return _integer(word)
        case OptionKind.BOOLEAN:
            return _boolean(word)
        case OptionKind.PERSON:
            return words.person(word)
        case OptionKind.CHANNEL:
            return words.channel(word)
        case OptionKind.FILE:
            return words.file(word)
        case _:
            return word


def _integer(word: str) -> int:
    if not re.fullmatch(r"[+-]?\d{1,18}", word, re.ASCII):
        raise ValueError(f"expected a whole number, got “{word[:40]}”")
    return int(word)


def _boolean(word: str) -> bool:
    if word.casefold() in _TRUE | _FALSE:
        return word.casefold() in _TRUE
    raise ValueError(f"expected yes or no, got “{word[:40]}”")
