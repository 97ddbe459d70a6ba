from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from agent.bridge import HistoryMessage
from agent.turn.prepare import may_be_shown
from tests.agent.turn.builders import NOW, a_participant, an_author


def said(name: str, *, from_agent: bool = False) -> HistoryMessage:
    return HistoryMessage("h1", an_author(name), "secret", NOW, from_agent)


def test_only_who_takes_part_is_shown() -> None:
    people = (a_participant("ana"),)
    assert may_be_shown(said("ana"), people)
    assert not may_be_shown(said("hidden"), people)
    assert may_be_shown(said("Isthmus", from_agent=True), ())


def test_what_somebody_had_forgotten_is_not_shown_whoever_speaks() -> None:
    ben = a_participant("ben", 2)
    ben = replace(ben, account=replace(ben.account, forgotten_before=NOW))
    assert not may_be_shown(said("ben"), (a_participant("ana"), ben))
    later = replace(said("ben"), occurred_at=NOW + timedelta(seconds=1))
    assert may_be_shown(later, (a_participant("ana"), ben))
