from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.bridge import Capabilities, OutgoingMessage
from agent.contracts.cards import ActionKind, Card, CardAction, CardKind
from agent.fitting import card_text, cut, fitted
from agent.notices import title_only
from agent.turn.split import MEASURES
from tests.agent.turn.builders import a_message

UNDO = CardAction(ActionKind.UNDO, "Undo", ("memories", "undo"), {"id": 7}, "/memories undo 7")
EXPAND = CardAction(ActionKind.EXPAND, "Show all", ("memories", "notice"), {"id": 7}, "/memories notice 7")
CARD = Card(CardKind.SAVED, "Saved", ("x" * 150, "short"), 7, forgotten="y" * 90, actions=(UNDO, EXPAND))
PLAIN = Capabilities(2000, has_idempotency_key=True, card_limit=120)


def outgoing(card: Card | None) -> OutgoingMessage:
    event = a_message()
    return OutgoingMessage("k", "fake", event.channel, event.server, "Saved", card=card)


def test_what_fits_stays_as_it_is_and_need_not_be_expanded() -> None:
    message = fitted(outgoing(CARD), replace(PLAIN, card_limit=len(card_text(CARD)), actions=True))
    assert message == outgoing(replace(CARD, actions=(UNDO,)))
    assert fitted(outgoing(None), PLAIN) == outgoing(None)


def test_where_there_are_buttons_one_expands_it() -> None:
    message = fitted(outgoing(CARD), replace(PLAIN, actions=True))
    assert message.card is not None
    assert message.file is None
    assert message.card.actions == (UNDO, EXPAND)
    assert len(card_text(message.card)) <= 120
    assert message.card.lines[1] == "short"  # only the longest are cut
    assert len(message.card.lines[0]) == len(message.card.forgotten or "") > 40


def test_elsewhere_the_whole_text_goes_along() -> None:
    message = fitted(outgoing(CARD), PLAIN)
    assert message.card is not None
    assert message.card.actions == (UNDO,)
    assert message.file is not None
    assert (message.file.name, message.file.content.decode()) == ("notice.txt", card_text(CARD))


def test_where_there_are_no_files_the_card_names_the_command() -> None:
    message = fitted(outgoing(CARD), replace(PLAIN, files=False))
    assert message.card is not None
    assert message.file is None
    assert message.card.lines[-1] == "Show all: /memories notice 7"
    assert len(card_text(message.card)) <= 120


def test_a_card_that_cannot_be_expanded_goes_as_a_file_or_is_cut() -> None:
    card = replace(CARD, actions=())
    assert fitted(outgoing(card), replace(PLAIN, actions=True)).file is not None
    bare = fitted(outgoing(card), replace(PLAIN, files=False))
    assert bare.file is None
    assert bare.card is not None
    assert len(card_text(bare.card)) <= 120


def test_a_title_alone_is_not_expanded() -> None:
    assert title_only(CARD) == Card(CardKind.SAVED, "Saved", memory_id=7, actions=(UNDO,))


@pytest.mark.parametrize(
    ("text", "units", "unit", "expected"),
    [
        ("abcdef", 6, "characters", "abcdef"),
        ("abcdef", 4, "characters", "abc…"),
        ("a👩‍👩‍👧b" * 2, 5, "characters", "a…"),
        ("aaa😀b", 5, "utf16", "aaa…"),
        ("éééé", 7, "bytes", "éé…"),
    ],
)
def test_no_grapheme_is_torn_apart(text: str, units: int, unit: str, expected: str) -> None:
    assert cut(text, units, MEASURES[unit]) == expected


@given(
    st.lists(st.text(max_size=300), max_size=4),
    st.none() | st.text(max_size=300),
    st.sampled_from(["characters", "utf16", "bytes"]),
    st.booleans(),
    st.booleans(),
)
def test_every_card_fits(lines: list[str], forgotten: str | None, unit: str, buttons: bool, files: bool) -> None:
    card = Card(CardKind.SAVED, "Saved", tuple(lines), forgotten=forgotten, actions=(UNDO, EXPAND))
    limits = Capabilities(
        2000, has_idempotency_key=True, card_limit=120, length_unit=unit, actions=buttons, files=files
    )
    message = fitted(outgoing(card), limits)
    assert message.card is not None
    assert MEASURES[unit](card_text(message.card)) <= 120
    is_cut = card_text(replace(message.card, actions=())) != card_text(card)
    can_expand = any(action.kind is ActionKind.EXPAND for action in message.card.actions)
    names_it = any(line.endswith(EXPAND.typed) for line in message.card.lines)
    assert is_cut == (can_expand or message.file is not None or names_it)
