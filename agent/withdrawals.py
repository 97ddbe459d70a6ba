"""What follows when a message is deleted or redacted: plugins are told, and what they answer is posted as notices."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from agent import logs
from agent.extensions.errors import HookFailed
from agent.notices import NoticeRule, notice_messages
from agent.places import Channel, Place, Server
from agent.preferences_repository import read_rows
from agent.store.errors import StoreError
from agent.store.queries import load_queries
from agent.tools import TurnLost
from agent.turn.values import Outcome

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from agent.bridge import OutgoingMessage
    from agent.contracts.cards import Card
    from agent.core import Core
    from agent.events import MessageDeleted
    from agent.sender import Sender
    from agent.store.inbound import Inbound

QUERIES = load_queries("agent", "withdrawals.sql")
PAUSES: Final = (1.0, 10.0, 60.0, 600.0)
"""Seconds until plugins that failed are told again; after the last one the next start does it."""
log = logs.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Withdrawals:
    """Tells plugins of deleted messages; the event is unfinished until all have done their part."""

    core: Core
    inbound: Inbound
    sender: Sender
    notice_rule: Callable[[Mapping[str, Any]], NoticeRule]

    async def tell(self, event: MessageDeleted) -> None:
        """Tell every plugin; post the cards that they return where the message was, as the server wants its notices."""
        cards: list[Card] = []
        waiting: Collection[str] = self.core.hooks.implementing("message_deleted")
        for pause in (*PAUSES, None):
            waiting = await self._tell(event, waiting, cards)
            if not waiting and await self._finish(event, cards):
                return
            if pause is not None:
                await asyncio.sleep(pause)
        log.error("deletion_not_finished", event_id=event.event_id, plugins=sorted(waiting))

    async def _tell(self, event: MessageDeleted, plugins: Collection[str], cards: list[Card]) -> Collection[str]:
        """Tell these plugins; return those that failed."""
        failed = []
        for plugin in plugins:
            try:
                answers = await self.core.hooks.collect_from((plugin,), "message_deleted", event=event)
            except HookFailed:  # the host has logged it
                failed.append(plugin)
            else:
                cards += [card for _, answer in answers for card in answer]
        return failed

    async def _finish(self, event: MessageDeleted, cards: Sequence[Card]) -> bool:
        """End the event together with its notices; tell whether that is done."""
        try:
            messages = await self._notices(event, cards) if cards else ()
            self.sender.post(await self.inbound.finish(event, Outcome.IGNORED, messages))
        except TurnLost:  # it was finished already, perhaps by a try whose connection broke after the commit
            log.debug("event_ended_elsewhere", event_id=event.event_id)
        except StoreError as error:
            log.warning("deletion_waits_for_database", reason=str(error))
            return False
        return True

    async def _notices(self, event: MessageDeleted, cards: Sequence[Card]) -> tuple[OutgoingMessage, ...]:
        async with self.core.store.connection() as conn:
            row = await conn.fetchrow(QUERIES["place_of"], event.platform, event.channel.external_id)
            if row is None:
                return ()
            chosen = await read_rows(conn, row["server_id"], None)
        place = Place(Server(row["server_id"], event.server), Channel(row["channel_id"], event.channel))
        rule = self.notice_rule(self.core.preferences.in_force(chosen.server, {}))
        key = f"{event.platform}:{event.event_id}:withdrawn"
        return tuple(notice_messages(cards, place, rule, key=key, event_id=event.event_id))
