"""What a turn has already done, kept in the database so that a restarted turn goes on and repeats nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from agent.contracts.cards import Card
    from agent.tools import Connection


class Ledger(Protocol):
    """The checkpoints of one turn (architecture.md, Once only)."""

    async def load(self) -> str | None:
        """Return the loop's messages of the last checkpoint as JSON; None when nothing has taken effect yet."""
        ...

    async def write(self, conn: Connection, position: int, messages: str, cards: tuple[Card, ...]) -> None:
        """Keep the loop's messages, up to and with a call that takes effect, and its cards, on the call's connection.

        `position` counts the calls of the turn from 0.

        Raises:
            agent.tools.TurnLost: the turn is no longer this worker's; the transaction must roll back.
        """
        ...
