"""Cards into messages: who sees how much of what was learned (memory.md, Notices)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agent.bridge import OutgoingMessage
from agent.contracts.cards import ActionKind, Card, CardKind, NoticeVisibility
from agent.places import Audience, ChannelRef

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.places import Place

_NEVER_IN_THE_LOG = frozenset({Audience.PERSON, Audience.CHANNEL})


@dataclass(frozen=True, slots=True)
class NoticeRule:
    """How a server wants its notices."""

    visibility: NoticeVisibility = NoticeVisibility.FULL
    thought_log: ChannelRef | None = None


def title_only(card: Card) -> Card:
    """Return the card without anything that tells what was learned; what can be done with it stays."""
    actions = tuple(action for action in card.actions if action.kind is not ActionKind.EXPAND)
    return replace(card, lines=(), about=None, forgotten=None, actions=actions)


def notice_messages(
    cards: Sequence[Card], place: Place, rule: NoticeRule, *, key: str, event_id: str | None
) -> tuple[OutgoingMessage, ...]:
    """Return the messages that show these cards; `key` is unique for the call that they report.

    A card whose audience is a person or a channel never reaches the thought log; the disclosure is always shown.
    """
    messages: list[OutgoingMessage] = []
    for number, card in enumerate(cards):
        for target, shown in _targets(card, place.channel.ref, rule):
            messages.append(
                OutgoingMessage(
                    key=f"{key}:{number}:{target.external_id}",
                    platform=place.platform,
                    channel=target,
                    server=place.server.ref,
                    text=shown.title,
                    card=shown,
                    event_id=event_id,
                )
            )
    return tuple(messages)


def _targets(card: Card, here: ChannelRef, rule: NoticeRule) -> list[tuple[ChannelRef, Card]]:
    if card.kind is CardKind.DISCLOSURE or rule.visibility is NoticeVisibility.FULL:
        return [(here, card)]
    log = rule.thought_log if card.audience not in _NEVER_IN_THE_LOG else None
    logged = [(log, card)] if log is not None else []
    if rule.visibility is NoticeVisibility.MINIMAL:
        return [(here, title_only(card)), *logged]
    return logged
