"""What the model may call: declarations, results, and the context in which one call runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import BaseModel

if TYPE_CHECKING:
    from datetime import datetime

    from asyncpg.pool import PoolConnectionProxy

    from agent.contracts.cards import Card
    from agent.contracts.people import Account, Participant, Persona, Speaker
    from agent.identity.keys import ParticipantKey
    from agent.places import Place

type Json = str | int | float | bool | list[Json] | dict[str, Json] | None
type Connection = PoolConnectionProxy[Any]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call answers: data for the model, never an exception."""

    status: str
    """One word of the tool's fixed set, as in `memory_saved_successfully`."""
    data: Mapping[str, Json] = field(default_factory=dict)

    def as_json(self) -> dict[str, Json]:
        """Return the result as the model reads it: `status` first, then the data."""
        return {"status": self.status, **self.data}


class Effect(Protocol):
    """Binds what a tool does to the turn, inside the tool's own transaction (architecture.md, Once only)."""

    async def __call__(self, conn: Connection, result: ToolResult, cards: tuple[Card, ...] = ()) -> None:
        """Write the checkpoint of this call, with the cards that tell of it, on the tool's own connection.

        A restarted turn then goes on with `result` and does not run the call again.

        Raises:
            TurnLost: another worker has taken the turn over, or it was stopped: the transaction must roll back.
        """
        ...


class TurnLost(Exception):
    """The turn that this call belongs to is no longer this worker's: nothing of it may be kept."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """In which place, for whom and when a tool runs."""

    turn_id: str
    place: Place
    account: Account
    speaker: Speaker
    persona: Persona
    participants: tuple[Participant, ...]
    now: datetime
    """The moment of the turn."""
    message_id: str | None
    said_at: datetime
    """When the message that began the turn was said."""
    effect: Effect
    tool_name: str = ""
    bot_keys: frozenset[ParticipantKey] = frozenset()
    """The agent's own accounts and webhooks on this platform."""


type ToolRun = Callable[[ToolContext, Any], Awaitable[ToolResult]]


@dataclass(frozen=True, slots=True)
class Tool:
    """One thing that the model may call."""

    name: str
    description: str
    """For the model: when to call it and what it does."""
    parameters: type[BaseModel]
    """Arguments are validated against it by us, before `run` sees them."""
    run: ToolRun
    invalid_status: str = "invalid_arguments"
    """The status when the arguments do not fit `parameters`."""
    owner: str = "core"
    """The plugin that registered it."""
