"""A message that waits for its turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.contracts.people import Account, Persona, Speaker
    from agent.events import MessageCreated
    from agent.places import Place
    from agent.turn.values import Why


@dataclass(frozen=True, slots=True)
class Job:
    """An admitted message with what was known when it was admitted."""

    event: MessageCreated
    place: Place
    account: Account
    speaker: Speaker
    persona: Persona
    why: Why
    corrections: int = 0
    """How often its turn was begun anew because the message was edited."""
