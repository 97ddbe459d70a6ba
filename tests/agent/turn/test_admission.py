from __future__ import annotations

from datetime import timedelta

import pytest

from agent.contracts.people import PrivacyLevel
from agent.events import MessageCreated, Reply
from agent.places import Place, ServerKind
from agent.turn.admission import Addressing, Admitted, Cooldowns, Declined, Quotas, Reason, decide
from agent.turn.values import Why
from tests.agent.turn.builders import NOW, a_message, a_persona, a_place, an_account

DEFAULT = a_persona()
MIRA = a_persona("Mira", 2, ("captain",), is_default=False)
PERSONAS = (DEFAULT, MIRA)
AUTO = Addressing(auto_channels=frozenset({"fake:general"}))

CASES = [
    (a_message("hi", is_bot=True, mentions_agent=True), a_place(), Addressing(), Declined(Reason.BOT)),
    (a_message("  ", mentions_agent=True), a_place(), Addressing(), Declined(Reason.EMPTY)),
    (a_message("", extras=("sticker: wave",)), a_place(ServerKind.DIRECT), Addressing(), Admitted(Why.DIRECT, DEFAULT)),
    (a_message("hi"), a_place(), Addressing(), Declined(Reason.NOT_ADDRESSED)),
    (a_message("hi", mentions_agent=True), a_place(), Addressing(), Admitted(Why.MENTION, DEFAULT)),
    (a_message("mira, hi", mentions_agent=True), a_place(), Addressing(), Admitted(Why.MENTION, MIRA)),
    (a_message("hi"), a_place(ServerKind.DIRECT), Addressing(), Admitted(Why.DIRECT, DEFAULT)),
    (a_message("hi", reply=Reply("m0", to_agent=True)), a_place(), Addressing(), Admitted(Why.REPLY, DEFAULT)),
    (
        a_message("hi", reply=Reply("m0", to_agent=True, persona_id=2)),
        a_place(),
        Addressing(),
        Admitted(Why.REPLY, MIRA),
    ),
    (a_message("hi", reply=Reply("m0")), a_place(), Addressing(), Declined(Reason.NOT_ADDRESSED)),
    (a_message("well, ISTHMUS?"), a_place(), Addressing(), Admitted(Why.TRIGGER, DEFAULT)),
    (a_message("aye, captain!"), a_place(), Addressing(), Admitted(Why.TRIGGER, MIRA)),
    (a_message("captains"), a_place(), Addressing(), Declined(Reason.NOT_ADDRESSED)),
    (a_message("hi"), a_place(), AUTO, Admitted(Why.AUTO, DEFAULT)),
    (a_message("hi"), a_place(channel="thread", parent="general"), AUTO, Admitted(Why.AUTO, DEFAULT)),
    (a_message("hi"), a_place(channel="other"), AUTO, Declined(Reason.NOT_ADDRESSED)),
    (a_message("isthmus?"), a_place(), Addressing(deliberate=True), Declined(Reason.NOT_ADDRESSED)),
    (a_message("hi", mentions_agent=True), a_place(), Addressing(deliberate=True), Admitted(Why.MENTION, DEFAULT)),
]


@pytest.mark.parametrize(("event", "place", "addressing", "expected"), CASES)
def test_who_is_answered(
    event: MessageCreated, place: Place, addressing: Addressing, expected: Admitted | Declined
) -> None:
    assert decide(event, place, an_account(), PERSONAS, addressing) == expected


def test_a_fully_private_person_is_answered_only_on_purpose() -> None:
    hidden = an_account(privacy=PrivacyLevel.FULL)
    assert decide(a_message("isthmus?"), a_place(), hidden, PERSONAS, AUTO) == Declined(Reason.NOT_ADDRESSED)
    mention = a_message("hi", mentions_agent=True)
    assert decide(mention, a_place(), hidden, PERSONAS, AUTO) == Admitted(Why.MENTION, DEFAULT)


def test_a_cooldown_counts_from_the_last_answer() -> None:
    cooldowns = Cooldowns(timedelta(seconds=10))
    assert cooldowns.admits(1, NOW)
    assert not cooldowns.admits(1, NOW + timedelta(seconds=9))
    assert cooldowns.admits(2, NOW + timedelta(seconds=9))
    assert cooldowns.admits(1, NOW + timedelta(seconds=10))


def test_a_quota_is_of_an_account_and_of_a_day() -> None:
    quotas = Quotas(2)
    assert [quotas.admits(1, NOW) for _ in range(3)] == [True, True, False]
    assert quotas.admits(2, NOW)
    assert quotas.admits(1, NOW + timedelta(days=1))
    assert all(Quotas(None).admits(1, NOW) for _ in range(1_000))


def test_no_cooldown_admits_always() -> None:
    cooldowns = Cooldowns(timedelta(seconds=0))
    assert all(cooldowns.admits(1, NOW) for _ in range(3))
