"""The ledger of a turn in the database (architecture.md, Once only)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agent.notices import NoticeRule, notice_messages

if TYPE_CHECKING:
    from agent.contracts.cards import Card
    from agent.events import MessageCreated
    from agent.places import Place
    from agent.store.inbound import Inbound
    from agent.store.outbox import OutboxRows, Posted
    from agent.tools import Connection


class TurnLedger:
    """Keeps what a turn has done, and the notices that tell of it, in the transactions of its tools."""

    def __init__(
        self,
        inbound: Inbound,
        outbox: OutboxRows,
        event: MessageCreated,
        place: Place,
        rule: NoticeRule,
        *,
        attempt: int,
    ) -> None:
        self._inbound = inbound
        self._outbox = outbox
        self._event = event
        self._place = place
        self._rule = rule
        self._is_blank = attempt == 1
        self._posted: list[Posted] = []

    async def load(self) -> str | None:
        """Return the loop's messages of the last checkpoint as JSON; None when nothing has taken effect yet."""
        if self._is_blank:  # the first attempt, and nothing was written yet: there is nothing to ask for
            return None
        return await self._inbound.load_checkpoint(self._event)

    async def write(self, conn: Connection, position: int, messages: str, cards: tuple[Card, ...]) -> None:
        """Keep the loop's messages and the cards of a call on the call's own connection.

        Raises:
            TurnLost: the turn is no longer this worker's; the transaction must roll back.
        """
        event = self._event
        self._is_blank = False
        await self._inbound.write_checkpoint(conn, event, position, messages)
        key = f"{event.platform}:{event.event_id}:card:{position}"
        notices = notice_messages(cards, self._place, self._rule, key=key, event_id=event.event_id)
        for notice in notices:
            self._posted += await self._outbox.add(conn, (replace(notice, asker=self._event.author.key),))

    def committed(self) -> tuple[Posted, ...]:
        """Return the notices written since the last call; the sender asks the database whether they were committed."""
        posted, self._posted = tuple(self._posted), []
        return posted
