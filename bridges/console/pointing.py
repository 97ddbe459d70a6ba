"""Messages that a typed command is about: pure functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agent.commands import GivenMessage, OptionKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agent.bridge import HistoryMessage
    from agent.commands import Command

LAST: Final = "last"
"""Stands for the last message of a channel."""


def pointed(command: Command, options: Mapping[str, Any], history: Iterable[HistoryMessage]) -> dict[str, Any]:
    """Return the options with the messages of the channel that their ids name; an id that names none stays one."""
    kinds = {option.name: option.kind for option in command.options}
    said = list(history)
    by_id = {message.message_id: message for message in said}
    if said:
        by_id.setdefault(LAST, said[-1])
    return {
        name: _given(by_id[value]) if kinds.get(name) is OptionKind.MESSAGE and value in by_id else value
        for name, value in options.items()
    }


def _given(message: HistoryMessage) -> GivenMessage:
    return GivenMessage(
        message.message_id, message.author, message.text, message.occurred_at, from_agent=message.from_agent
    )
