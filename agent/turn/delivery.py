"""An answer as the messages that go out: mentions, parts, keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.bridge import OutgoingMessage
from agent.identity.mentions import mentions_in, place_mentions
from agent.text import clean
from agent.turn.code_file import code_apart
from agent.turn.split import MEASURES, split

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent.bridge import Capabilities
    from agent.files import TextFile
    from agent.identity.keys import ParticipantKey
    from agent.turn.values import Turn

type _Part = tuple[str, tuple[ParticipantKey, ...], TextFile | None]


def answer(turn: Turn, text: str, capabilities: Capabilities) -> tuple[OutgoingMessage, ...]:
    """Return the parts of an answer in order; the first one answers the message, only resolved handles may ping.

    Each part has a key made of the event and its number, so that the same part is never posted twice. A block of code
    that is longer than a message goes as a file where the platform wants that, with the part that is before it.
    """
    persona = None if turn.persona.is_default and not turn.persona.is_renamed else turn.persona
    limit = capabilities.message_limit - (capabilities.persona_room if persona else 0)
    return tuple(
        OutgoingMessage(
            key=f"{turn.event.platform}:{turn.event.event_id}:{number}",
            platform=turn.event.platform,
            channel=turn.place.channel.ref,
            server=turn.place.server.ref,
            text=part,
            mentions=mentions,
            reply_to=turn.event.message_id if number == 0 else None,
            persona_name=persona.nickname if persona else None,
            persona_avatar=persona.avatar if persona else None,
            persona_id=turn.persona.persona_id,
            event_id=turn.event.event_id,
            part=number,
            replaces=turn.replaces[number] if number < len(turn.replaces) else None,
            asker=turn.account.key,
            code=code,
        )
        for number, (part, mentions, code) in enumerate(_parts(turn, clean(text), limit, capabilities))
    )


def _parts(turn: Turn, text: str, limit: int, capabilities: Capabilities) -> Iterable[_Part]:
    """Return each part's text, whom it mentions, and the code that goes along."""
    measure = MEASURES[capabilities.length_unit]
    apart = code_apart(text, limit, measure) if capabilities.code_files else None
    if apart is None:
        return _texts(turn, text, limit, capabilities)
    before = _texts(turn, apart.before, limit, capabilities) or [("", (), None)]
    last_text, mentions, _ = before[-1]
    return [*before[:-1], (last_text, mentions, apart.file), *_texts(turn, apart.after, limit, capabilities)]


def _texts(turn: Turn, text: str, limit: int, capabilities: Capabilities) -> list[_Part]:
    outgoing = place_mentions(text, turn.participants)
    parts = split(outgoing.text, limit, MEASURES[capabilities.length_unit])
    return [(part, mentions_in(part, outgoing.mentions), None) for part in parts]
