"""Commands as they are typed in a terminal: how people, channels and files are written there. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from agent.arguments import ArgumentsRefused, find_command, usage
from agent.arguments import read_arguments as read
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.terminal import id_of, person_name

if TYPE_CHECKING:
    from agent.commands import Command
    from agent.terminal import Whereabouts

__all__ = ["ArgumentsRefused", "find_command", "read_arguments", "usage"]

_KINDS: Final = {
    "console": ParticipantKind.CONSOLE_USER,
    "discord": ParticipantKind.DISCORD_USER,
    "matrix": ParticipantKind.MATRIX_USER,
}


def read_arguments(command: Command, text: str, where: Whereabouts) -> dict[str, Any]:
    """Read options: a person becomes a ParticipantKey, a channel its id in the present server, a file a Path.

    Raises:
        ArgumentsRefused: one is missing, too many, or of another kind.
    """
    return read(command, text, _Words(where))


@dataclass(frozen=True, slots=True)
class _Words:
    where: Whereabouts

    def person(self, word: str) -> ParticipantKey:
        platform, colon, external_id = word.partition(":")
        if colon and platform in _KINDS and external_id:
            return ParticipantKey(_KINDS[platform], external_id)
        return ParticipantKey(ParticipantKind.CONSOLE_USER, id_of(person_name(word)))

    def channel(self, word: str) -> str:
        return self.where.in_channel(word).channel_ref.external_id

    def file(self, word: str) -> Path:
        return Path(word).expanduser()
