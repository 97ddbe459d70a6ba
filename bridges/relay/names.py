"""The Matrix users of the relay: one for the agent, one for each person and persona from elsewhere. Pure."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Final

_PLAIN: Final = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789._-")
_HEX: Final = re.compile(r"=([0-9a-f]{2})")
_PERSONA: Final = "=persona"
"""No escaped id holds it: two digits stand behind each of its `=`."""
_LONGEST: Final = 150


def escape(identifier: str) -> str:
    """Return an id as a part of a Matrix user's: other signs as `=` and two digits for each byte; never ambiguous."""
    found = "".join(chr(byte) if byte in _PLAIN else f"={byte:02x}" for byte in identifier.encode("utf-8", "replace"))
    if len(found) <= _LONGEST:
        return found
    return "=h" + hashlib.sha256(identifier.encode("utf-8", "replace")).hexdigest()


def unescape(text: str) -> str | None:
    """Return the id that was escaped; None for what no escaping gives."""
    if not re.fullmatch(r"(?:[a-z0-9._-]|=[0-9a-f]{2})+", text):
        return None
    try:
        found = re.sub(_HEX, lambda byte: chr(int(byte[1], 16)), text).encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return None
    return found if escape(found) == text else None


@dataclass(frozen=True, slots=True)
class Names:
    """The ids under which the relay speaks; whether one is its own is decided by the whole id."""

    prefix: str
    localpart: str
    server_name: str

    @property
    def agent(self) -> str:
        """The user of the agent itself."""
        return f"@{self.localpart}:{self.server_name}"

    def person(self, identifier: str) -> str:
        """Return the user who stands for a person of another platform."""
        return f"@{self.prefix}{escape(identifier)}:{self.server_name}"

    def persona(self, persona_id: int) -> str:
        """Return the user who stands for a persona."""
        return f"@{self.prefix}{_PERSONA}{persona_id}:{self.server_name}"

    def is_own(self, user_id: str) -> bool:
        """Tell whether a user is the relay's."""
        return user_id == self.agent or self._within(user_id) is not None

    def person_of(self, user_id: str) -> str | None:
        """Return the id of the person for whom a user stands; None for everybody else."""
        within = self._within(user_id)
        return None if within is None or within.startswith(_PERSONA) else unescape(within)

    def is_agent(self, user_id: str) -> bool:
        """Tell whether a user stands for the agent or one of its personas."""
        return user_id == self.agent or (self._within(user_id) or "").startswith(_PERSONA)

    @property
    def pattern(self) -> str:
        """The expression that matches the users of people and personas, and none of another server."""
        return f"@{re.escape(self.prefix)}[a-z0-9._=-]+:{re.escape(self.server_name)}"

    def _within(self, user_id: str) -> str | None:
        """Return what stands between prefix and server."""
        if not re.fullmatch(self.pattern, user_id):
            return None
        return user_id[1 + len(self.prefix) : -1 - len(self.server_name)]
