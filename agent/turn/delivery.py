"""An answer as the messages that go out: mentions, parts, keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.bridge import OutgoingMessage
from agent.identity.mentions import mentions_in, place_mentions
from agent.text import clean
from agent.turn.split import MEASURES, split

if TYPE_CHECKING:
    from agent.bridge import Capabilities
    from agent.turn.values import Turn


def answer(turn: Turn, text: str, capabilities: Capabilities) -> tuple[OutgoingMessage, ...]:
    """Return the parts of an answer in order; the first one answers the message, only resolved handles may ping.

    Each part has a key made of the event and its number, so that the same part is never posted twice.
    """
    outgoing = place_mentions(clean(text), turn.participants)
    parts = split(outgoing.text, capabilities.message_limit, MEASURES[capabilities.length_unit])
    persona = None if turn.persona.is_default and not turn.persona.is_renamed else turn.persona
    return tuple(
        OutgoingMessage(
            key=f"{turn.event.platform}:{turn.event.event_id}:{number}",
            platform=turn.event.platform,
            channel=turn.place.channel.ref,
            server=turn.place.server.ref,
            text=part,
            mentions=mentions_in(part, outgoing.mentions),
            reply_to=turn.event.message_id if number == 0 else None,
            persona_name=persona.nickname if persona else None,
            persona_avatar=persona.avatar if persona else None,
            persona_id=turn.persona.persona_id,
            event_id=turn.event.event_id,
            part=number,
            asker=turn.account.key,
        )
        for number, part in enumerate(parts)
    )
