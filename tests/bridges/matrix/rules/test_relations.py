from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bridges.matrix.rules.relations import (
    Relation,
    age,
    is_overdue,
    is_redacted,
    is_valid_edit,
    redacted_by,
    relation_of,
)
from tests.bridges.matrix.rules.states import BEN, edit, said


@pytest.mark.parametrize(
    ("relates", "relation"),
    [
        ({"rel_type": "m.thread", "event_id": "$r", "m.in_reply_to": {"event_id": "$a"}}, Relation("", "$r", "$a")),
        (
            {"rel_type": "m.thread", "event_id": "$r", "is_falling_back": True, "m.in_reply_to": {"event_id": "$a"}},
            Relation("", "$r"),
        ),
        ({"m.in_reply_to": {"event_id": "$a"}}, Relation(answers="$a")),
        ({"rel_type": "m.replace", "event_id": "$r", "m.in_reply_to": {"event_id": "$a"}}, Relation("$r")),
        ({"rel_type": "m.annotation", "event_id": "$r", "key": "👍"}, Relation(reacts_to="$r", reaction="👍")),
        ({"rel_type": "m.reference", "event_id": "$r"}, Relation()),
        ({"m.in_reply_to": "$a"}, Relation()),
        ({"rel_type": 7, "event_id": {}}, Relation()),
        ("$a", Relation()),
        (None, Relation()),
    ],
)
def test_relations(relates: Any, relation: Relation) -> None:
    assert relation_of(said("x", **{"m.relates_to": relates})) == relation


@pytest.mark.parametrize(
    ("change", "is_valid"),
    [
        ({}, True),
        ({"sender": BEN}, False),
        ({"sender": None}, False),
        ({"type": "m.sticker"}, False),
        ({"state_key": ""}, False),
        ({"content": {"m.relates_to": {"rel_type": "m.replace", "event_id": "$said"}}}, False),
        ({"content": {"m.new_content": {}, "m.relates_to": {"rel_type": "m.replace", "event_id": "$other"}}}, False),
        ({"content": {"m.new_content": {}}}, False),
    ],
)
def test_an_edit_that_breaks_a_rule_is_none(change: Mapping[str, Any], is_valid: bool) -> None:
    assert is_valid_edit({**edit("new"), **change}, said("old")) is is_valid


def test_an_edit_of_an_edit_or_of_state_is_none() -> None:
    first = edit("one", event_id="$said")
    assert not is_valid_edit(edit("two"), {**first, "content": {**first["content"]}})
    assert not is_valid_edit(edit("two"), {**said("old"), "state_key": ""})
    assert not is_valid_edit({**edit("x"), "sender": None}, {**said("old"), "sender": None})


def test_a_redaction_says_in_either_place_what_it_is_of() -> None:
    assert redacted_by({"redacts": "$a", "content": {}}) == "$a"
    assert redacted_by({"content": {"redacts": "$b"}}) == "$b"
    assert redacted_by({"content": {"redacts": 7}, "redacts": None}) == ""
    assert is_redacted({"unsigned": {"redacted_because": {}}})
    assert not is_redacted(said("x"))


def test_of_two_edits_the_later_counts_and_then_the_greater_id() -> None:
    early, late = {"origin_server_ts": 1, "event_id": "$z"}, {"origin_server_ts": 2, "event_id": "$a"}
    assert age(early) < age(late)
    assert age(early) > age({**early, "event_id": "$y"})
    assert age({"origin_server_ts": "soon"}) == (0, "")


def test_only_messages_are_overdue() -> None:
    now = datetime(2026, 5, 1, 12, tzinfo=UTC)
    old, fresh = (now - timedelta(minutes=6)).timestamp() * 1000, (now - timedelta(minutes=4)).timestamp() * 1000
    assert is_overdue({**said("x"), "origin_server_ts": int(old)}, now)
    assert is_overdue({"type": "m.room.encrypted", "origin_server_ts": int(old)}, now)
    assert not is_overdue({**said("x"), "origin_server_ts": int(fresh)}, now)
    assert not is_overdue({**edit("x"), "origin_server_ts": int(old)}, now)
    assert not is_overdue({"type": "m.room.redaction", "origin_server_ts": int(old)}, now)
