"""What the relay hears of the other platform: kept at once, carried over in order (`agent.relaying.hearing.Hearer`)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from agent.events import MessageCreated, MessageDeleted, dump_event
from agent.identity.keys import ParticipantKind
from agent.store.outbox import dump_message
from bridges.relay.repository import DISCORD, Heard

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent.bridge import SentMessage
    from agent.events import Author, Event
    from agent.places import ChannelRef
    from agent.relaying.hearing import Said
    from bridges.relay.repository import Link
    from bridges.relay.ties import Ties

SAID: Final = "said"
WITHDRAWN: Final = "withdrawn"


class Hearing:
    """Keeps what was said in linked channels."""

    def __init__(self, ties: Ties, wake: Callable[[str, str], None]) -> None:
        self._ties = ties
        self._wake = wake

    async def hear(self, event: Event) -> None:
        """Keep what somebody did in a linked channel, unless it was a machine."""
        link = self._link(event.channel)
        if link is None or (not isinstance(event, MessageDeleted) and not self._is_carried(event.author)):
            return
        target = None if isinstance(event, MessageCreated) else event.message_id
        await self._keep(link, Heard(event.event_id, link.room_id, event.type, dump_event(event), target))

    async def hear_agent(self, said: Said) -> None:
        """Keep what the agent said in a linked channel."""
        if (link := self._link(said.message.channel)) is None:
            return
        event_id = f"edited:{said.message.key}" if said.is_edit else f"said:{said.message_id}"
        payload = {
            "message": json.loads(dump_message(said.message)),
            "message_id": said.message_id,
            "is_edit": said.is_edit,
        }
        target = said.message_id if said.is_edit else None
        await self._keep(link, Heard(event_id, link.room_id, SAID, json.dumps(payload), target))

    async def hear_withdrawal(self, message: SentMessage) -> None:
        """Keep that the agent has deleted something in a linked channel."""
        link = self._ties.links.by_channel.get((message.platform, message.channel_id))
        if link is not None:
            heard = Heard(f"withdrawn:{message.message_id}", link.room_id, WITHDRAWN, "{}", message.message_id)
            await self._keep(link, heard)

    def _link(self, channel: ChannelRef) -> Link | None:
        by_channel = self._ties.links.by_channel
        return by_channel.get((DISCORD, channel.external_id)) or by_channel.get(
            (DISCORD, channel.parent_external_id or "")
        )

    def _is_carried(self, author: Author) -> bool:
        """Tell whether a room sees somebody: neither machines nor people of another bridge, which may be there too."""
        if not self._ties.settings.mirror_people:
            return False
        if author.external_id in self._ties.settings.bots:
            return True
        return not author.is_bot and author.kind is ParticipantKind.DISCORD_USER

    async def _keep(self, link: Link, heard: Heard) -> None:
        if await self._ties.rows.keep(DISCORD, [heard]):
            self._wake(DISCORD, link.room_id)
