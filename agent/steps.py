"""The id of a button: a command with its options in at most 100 characters, so that it works after a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlencode

from agent.catalog import translate
from agent.commands import OptionKind, Step, StepKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agent.commands import Command, Invocation
    from agent.contracts.cards import CardAction

LIMIT: Final = 100
"""Characters of an id that Discord takes; other platforms take more."""
_MARK: Final = "do:"
_KINDS: Final = frozenset({OptionKind.TEXT, OptionKind.INTEGER, OptionKind.BOOLEAN})


class StepLost(ValueError):
    """An id that no command answers to any more; the text says so to whoever pressed the button."""


def step_id(step: Step) -> str | None:
    """Return the id of a step; None when its options are too long for one, so that no button can be drawn."""
    written = (
        f"{_MARK}{'.'.join(step.path)}?{urlencode({name: _written(value) for name, value in step.options.items()})}"
    )
    return written if len(written) <= LIMIT else None


def step_of(action: CardAction) -> Step:
    """Return the button of a card's action."""
    return Step(action.label, action.path, action.options)


def page_steps(call: Invocation, page: int, pages: int) -> tuple[Step, ...]:
    """Return the steps to the pages before and behind one: the same command with everything else that was given.

    The command's option for the page is `page`.
    """
    around = (
        (translate(call.locale, "Back"), page - 1, StepKind.PREVIOUS),
        (translate(call.locale, "Next"), page + 1, StepKind.NEXT),
    )
    given = {name: value for name, value in call.options.items() if isinstance(value, (str, int))}
    return tuple(
        Step(label, call.command, {**given, "page": number}, kind)
        for label, number, kind in around
        if 1 <= number <= pages
    )


def is_step(identifier: str) -> bool:
    """Tell whether an id was written by `step_id`."""
    return identifier.startswith(_MARK)


def read_step(identifier: str, commands: Iterable[Command]) -> tuple[Command, Mapping[str, Any]]:
    """Return the command and the options of an id that `step_id` wrote.

    Ids come from outside: nothing is taken on trust.

    Raises:
        StepLost: there is no such command any more, or it has other options by now.
    """
    path, _, query = identifier.removeprefix(_MARK).partition("?")
    command = next((each for each in commands if each.path == tuple(path.split("."))), None)
    if command is None:
        raise StepLost("this button belongs to a command that is gone")
    kinds = {option.name: option.kind for option in command.options}
    options: dict[str, Any] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name not in kinds or kinds[name] not in _KINDS:
            raise StepLost(f"this button is older than the command /{' '.join(command.path)}: run the command again")
        options[name] = _read(value, kinds[name])
    return command, options


def _written(value: str | int | bool) -> str:  # noqa: FBT001  # a value, not a switch
    return str(int(value)) if isinstance(value, bool) else str(value)


def _read(value: str, kind: OptionKind) -> str | int | bool:
    try:
        match kind:
            case OptionKind.INTEGER:
                return int(value)
            case OptionKind.BOOLEAN:
                return bool(int(value))
            case _:
                return value
    except ValueError:
        raise StepLost("this button's id is damaged: run the command again") from None
