"""What a relay hears of the core."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from agent.bridge import OutgoingMessage, SentMessage

if TYPE_CHECKING:
    from agent.events import Event

OWN: Final = "relay:"
"""How the ids of events and the keys of messages begin that a relay itself has brought: it does not hear them."""


@dataclass(frozen=True, slots=True)
class Said:
    """The agent has said something, or given what it said another text."""

    message: OutgoingMessage
    message_id: str
    is_edit: bool = False


class Hearer(Protocol):
    """Hears what happens on one platform, each thing at least once and in order within a channel.

    What it raises makes the core tell it again; so it keeps what it heard and returns.
    """

    async def hear(self, event: Event) -> None:
        """Hear what somebody did, before the core deals with it."""
        ...

    async def hear_agent(self, said: Said) -> None:
        """Hear what the agent said, before that is settled."""
        ...

    async def hear_withdrawal(self, message: SentMessage) -> None:
        """Hear that the agent has deleted a message of its own."""
        ...
