"""Whatever order the gateway brings a message, its edits and its deletion in, the end is the same."""

from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

import pytest

from bridges.discord.early import KEPT, Early, moment_of

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
MESSAGE_ID = (int(NOW.timestamp() * 1000) - 1_420_070_400_000) << 22
CREATED = {"id": str(MESSAGE_ID), "content": "first", "channel_id": "5"}
EDITS = [
    {"id": str(MESSAGE_ID), "content": f"edit {number}", "edited_timestamp": f"2026-03-01T12:00:0{number}+00:00"}
    for number in (1, 2)
]


class Reader:
    """What a core would see that takes what it is brought."""

    def __init__(self) -> None:
        self.early = Early()
        self.text: str | None = None
        self.edited = ""
        self.deleted = False

    def take(self, step: str) -> None:
        if step == "create":
            message = self.early.created(CREATED, NOW)
            if message is not None and not self.deleted:
                self.text, self.edited = str(message["content"]), str(message.get("edited_timestamp", ""))
            return
        edit: dict[str, Any] | None = None if step == "delete" else EDITS[int(step) - 1]
        self.early.keep(MESSAGE_ID, edit, NOW)
        if edit is None:
            self.text, self.deleted = None, True
        elif self.text is not None and edit["edited_timestamp"] > self.edited:
            self.text, self.edited = edit["content"], edit["edited_timestamp"]


def outcome(steps: tuple[str, ...]) -> str | None:
    reader = Reader()
    for step in steps:
        reader.take(step)
    return reader.text


@pytest.mark.parametrize("steps", list(permutations(["create", "1", "2"])))
def test_the_last_edit_counts_in_every_order(steps: tuple[str, ...]) -> None:
    assert outcome(steps) == "edit 2"


@pytest.mark.parametrize("steps", list(permutations(["create", "1", "2", "delete"])))
def test_what_is_deleted_says_nothing_in_every_order(steps: tuple[str, ...]) -> None:
    assert outcome(steps) is None


@pytest.mark.parametrize("steps", list(permutations(["create", "delete", "create", "1"])))
def test_what_is_deleted_stays_so_when_it_comes_twice(steps: tuple[str, ...]) -> None:
    early, answered = Early(), False
    for step in steps:
        if step == "create":
            answered = answered or early.created(CREATED, NOW) is not None
        else:
            early.keep(MESSAGE_ID, None if step == "delete" else EDITS[0], NOW)
    assert answered is (steps.index("create") < steps.index("delete"))


def test_an_edit_that_a_message_came_with_is_taken() -> None:
    early = Early()
    early.created({**CREATED, **EDITS[1]}, NOW)
    assert [early.is_taken(MESSAGE_ID, edit) for edit in EDITS] == [True, True]
    early.created(CREATED, NOW)
    assert early.is_taken(MESSAGE_ID, EDITS[0])
    later = {**EDITS[1], "edited_timestamp": "2026-03-01T14:00:00+01:00"}
    assert not early.is_taken(MESSAGE_ID, {**later, "edited_timestamp": "2026-03-01T14:00:00.5+01:00"})
    assert early.is_taken(MESSAGE_ID, later)


def test_what_is_older_is_not_waited_for() -> None:
    early = Early()
    assert not early.keep(MESSAGE_ID, None, NOW + KEPT + timedelta(seconds=1))
    early.created(CREATED, NOW)
    assert not early.keep(MESSAGE_ID, EDITS[0], NOW)


def test_what_waits_too_long_is_forgotten() -> None:
    early = Early()
    assert early.keep(MESSAGE_ID, None, NOW)
    assert early.created(CREATED, NOW + KEPT + timedelta(seconds=1)) == CREATED


def test_what_is_remembered_is_bounded() -> None:
    early = Early(size=2)
    for number in range(5):
        assert early.keep(MESSAGE_ID + number, None, NOW)
    kept = [early.created({**CREATED, "id": str(MESSAGE_ID + number)}, NOW) is None for number in range(5)]
    assert kept == [False, False, False, True, True]


def test_an_id_tells_its_moment() -> None:
    assert moment_of(MESSAGE_ID) == NOW
