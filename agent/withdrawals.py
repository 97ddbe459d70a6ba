"""What follows when a message is deleted or redacted: plugins are told, and what they answer is posted as notices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.notices import NoticeRule, notice_messages
from agent.places import Channel, Place, Server
from agent.preferences_repository import read_rows
from agent.store.queries import load_queries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.contracts.cards import Card
    from agent.core import Core
    from agent.events import MessageDeleted
    from agent.sender import Sender
    from agent.store.outbox import OutboxRows, Posted

QUERIES = load_queries("agent", "withdrawals.sql")


@dataclass(frozen=True, slots=True)
class Withdrawals:
    """Tells plugins of deleted messages, once each."""

    core: Core
    outbox: OutboxRows
    sender: Sender
    notice_rule: Callable[[Mapping[str, Any]], NoticeRule]

    async def tell(self, event: MessageDeleted) -> None:
        """Tell every plugin; post the cards that they return where the message was, as the server wants its notices."""
        found = await self.core.hooks.collect("message_deleted", event=event)
        cards = tuple(card for given in found for card in given)
        if cards:
            self.sender.post(await self._put(event, cards))

    async def _put(self, event: MessageDeleted, cards: Sequence[Card]) -> list[Posted]:
        posted: list[Posted] = []
        async with self.core.store.transaction() as conn:
            row = await conn.fetchrow(QUERIES["place_of"], event.platform, event.channel.external_id)
            if row is None:
                return posted
            place = Place(Server(row["server_id"], event.server), Channel(row["channel_id"], event.channel))
            chosen = await read_rows(conn, row["server_id"], None)
            rule = self.notice_rule(self.core.preferences.in_force(chosen.server, {}))
            key = f"{event.platform}:{event.event_id}:withdrawn"
            for message in notice_messages(cards, place, rule, key=key, event_id=event.event_id):
                posted += await self.outbox.add(conn, (message,))
        return posted
