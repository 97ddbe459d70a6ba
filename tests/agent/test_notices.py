from __future__ import annotations

import pytest

from agent.bridge import OutgoingMessage
from agent.contracts.cards import Card, CardKind, NoticeVisibility
from agent.notices import NoticeRule, notice_messages
from agent.places import Audience, ChannelRef
from tests.agent.turn.builders import a_place

LOG = ChannelRef("thought-log", "thought-log")
LEARNED = Card(CardKind.SAVED, "Saved", ("Ana likes tea",), 7, "ana", None, Audience.SERVER)
PRIVATE = Card(CardKind.SAVED, "Saved", ("Ana likes tea",), 8, "ana", None, Audience.PERSON)


def shown(card: Card, rule: NoticeRule) -> list[tuple[str, OutgoingMessage]]:
    messages = notice_messages((card,), a_place(), rule, key="k", event_id="e")
    return [(message.channel.external_id, message) for message in messages]


def told(card: Card, visibility: NoticeVisibility, log: ChannelRef | None) -> list[tuple[str, bool]]:
    """Where a card is shown, and whether what was learned stands there."""
    return [
        (channel, bool(message.card and message.card.lines))
        for channel, message in shown(card, NoticeRule(visibility, log))
    ]


@pytest.mark.parametrize(
    ("card", "visibility", "log", "expected"),
    [
        (LEARNED, NoticeVisibility.FULL, LOG, [("general", True)]),
        (LEARNED, NoticeVisibility.MINIMAL, None, [("general", False)]),
        (LEARNED, NoticeVisibility.MINIMAL, LOG, [("general", False), ("thought-log", True)]),
        (LEARNED, NoticeVisibility.HIDDEN, LOG, [("thought-log", True)]),
        (LEARNED, NoticeVisibility.HIDDEN, None, []),
        (PRIVATE, NoticeVisibility.MINIMAL, LOG, [("general", False)]),
        (PRIVATE, NoticeVisibility.HIDDEN, LOG, []),
        (PRIVATE, NoticeVisibility.FULL, LOG, [("general", True)]),
    ],
)
def test_where_a_card_is_shown(
    card: Card, visibility: NoticeVisibility, log: ChannelRef | None, expected: list[tuple[str, bool]]
) -> None:
    assert told(card, visibility, log) == expected


def test_the_disclosure_is_always_shown() -> None:
    disclosure = Card(CardKind.DISCLOSURE, "I remember", ("how to stop it",))
    assert told(disclosure, NoticeVisibility.HIDDEN, None) == [("general", True)]


def test_keys_are_unique_for_each_message() -> None:
    messages = notice_messages(
        (LEARNED, LEARNED), a_place(), NoticeRule(NoticeVisibility.MINIMAL, LOG), key="k", event_id="e"
    )
    assert len({message.key for message in messages}) == len(messages) == 4
