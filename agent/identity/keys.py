"""The key of a participant: identity comes from ids, never from names."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ParticipantKind(StrEnum):
    """What kind of participant an id belongs to; the same digits of two kinds never collide."""

    DISCORD_USER = "discord_user"
    MATRIX_USER = "matrix_user"
    PROXY_IDENTITY = "proxy_identity"
    PERSONA = "persona"
    WEBHOOK = "webhook"
    BOT = "bot"
    CONSOLE_USER = "console_user"

    @property
    def owns_memories(self) -> bool:
        """Tell whether an account of this kind gets a user row, so that it may own personal memories."""
        return self in {ParticipantKind.DISCORD_USER, ParticipantKind.CONSOLE_USER}


@dataclass(frozen=True, slots=True)
class ParticipantKey:
    """Who somebody is: the kind and the platform's id, together."""

    kind: ParticipantKind
    id: str

    def __str__(self) -> str:
        """Return the key as one word, `kind:id`."""
        return f"{self.kind}:{self.id}"
