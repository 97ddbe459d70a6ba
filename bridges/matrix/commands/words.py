"""People and rooms as they are written in commands; pure functions over what is known of a server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.identity.names import normalise

_MENTION: Final = re.compile(r"<@(?P<id>[^<>]+)>")
_LINK: Final = re.compile(r"<?https://matrix\.to/#/(?P<what>[^?>\s]+)[^>\s]*>?")


@dataclass(frozen=True, slots=True)
class Words:
    """What can be named in one server (`agent.arguments.Words`)."""

    people: Mapping[str, str]
    """Names of the server's people by their ids."""
    rooms: Mapping[str, tuple[str, ...]]
    """Ids of the server's channels, each with every way to write it: its id, its address, its name."""

    def person(self, word: str) -> ParticipantKey:
        """Return who is meant: by a mention, an id, or a name that only one bears."""
        found = _MENTION.fullmatch(word)
        target = found["id"] if found else _linked(word)
        if re.fullmatch(r"@[^:\x00]+:\S+", target):
            return ParticipantKey(ParticipantKind.MATRIX_USER, target)
        wanted = normalise(target)
        meant = [user for user, name in self.people.items() if wanted and normalise(name) == wanted]
        if len(meant) == 1:
            return ParticipantKey(ParticipantKind.MATRIX_USER, meant[0])
        if meant:
            raise ValueError(f"several people are called “{word[:40]}”: write the whole id, as in {min(meant)}")
        raise ValueError(f"nobody here is called “{word[:40]}”: mention them, or write the whole id")

    def channel(self, word: str) -> str:
        """Return the id of the channel that is meant."""
        target = _linked(word)
        wanted = normalise(target.removeprefix("#"))
        meant = [room for room, names in self.rooms.items() if target in names]
        meant = meant or [
            room for room, names in self.rooms.items() if wanted and wanted in {normalise(name) for name in names}
        ]
        if len(meant) == 1:
            return meant[0]
        if meant:
            raise ValueError(f"several rooms here are called “{word[:40]}”: write the room's address or id")
        raise ValueError(f"there is no room “{word[:40]}” here that I am in")

    def file(self, word: str) -> None:
        """Refuse: files are sent, not named."""
        raise ValueError(f"“{word[:40]}” is no file: send the file with the command as its caption, or reply to it")


def _linked(word: str) -> str:
    found = _LINK.fullmatch(word)
    return unquote(found["what"]) if found else word
