from collections.abc import Mapping
from typing import Any

import pytest

from agent.places import Visibility
from bridges.matrix.rules.room import Room
from bridges.matrix.rules.spaces import agreed_space, follows, settled_space, visibility_of
from tests.bridges.matrix.rules.states import ANA, BEN, OWNER, event, member, room

VIA = {"via": ["a.org"]}


def parent(space: str = "!space", sender: str = OWNER, **content: Any) -> dict[str, Any]:
    return event("m.space.parent", {**VIA, "canonical": True, **content}, space, sender)


def child(sender: str = OWNER, **content: Any) -> dict[str, Any]:
    return event("m.space.child", {**VIA, **content}, "!room", sender)


def space(*events: Mapping[str, Any], room_id: str = "!space") -> Room:
    return room(room_id, *events, kind="m.space")


@pytest.mark.parametrize(
    ("found", "of", "agreed"),
    [
        (room("!room", parent()), space(child()), "!space"),
        (room("!room", parent()), space(), None),
        (room("!room"), space(child()), None),
        (room("!room", parent(canonical=False)), space(child()), None),
        (room("!room", parent(via=[])), space(child()), None),
        (room("!room", parent()), space(child(via=[])), None),
        (room("!room", parent()), space(child(via="a.org")), None),
        (room("!room", parent(sender=ANA)), space(child()), None),
        (room("!room", parent()), space(child(sender=ANA)), None),
        (room("!room", parent()), room("!space", child()), None),
    ],
)
def test_both_sides_must_agree_and_manage(found: Room, of: Room, agreed: str | None) -> None:
    assert agreed_space(found, {"!room": found, "!space": of}) == agreed


def test_a_space_that_the_agent_is_not_in_counts_not() -> None:
    assert agreed_space(room("!room", parent()), {}) is None


def test_of_several_the_smallest_id_counts() -> None:
    found = room("!room", parent("!b"), parent("!a"))
    rooms = {each: space(child(), room_id=each) for each in ("!b", "!a")}
    assert agreed_space(found, rooms) == "!a"


def test_what_was_decided_stays_until_who_manages_both_moves_it() -> None:
    old, new = space(child(), room_id="!old"), space(child(), room_id="!new")
    rooms = {"!old": old, "!new": new}
    assert settled_space(room("!room"), rooms, None) is None
    assert settled_space(room("!room", parent("!old")), rooms, None) == "!old"
    assert settled_space(room("!room"), rooms, "!old") == "!old"
    moved = room("!room", parent("!new"))
    assert settled_space(moved, rooms, "!old") == "!new"
    assert settled_space(moved, {"!new": new}, "!old") == "!old", "the old space's managers are not known"
    levels = event("m.room.power_levels", {"users": {ANA: 100}})
    by_ana = room("!room", levels, parent("!new", sender=ANA))
    assert agreed_space(by_ana, rooms) == "!new"
    assert settled_space(by_ana, rooms, "!old") == "!old", "ana manages the room and not the old space"


def rules(join: str, history: str = "shared", allow: str | None = None, *more: Mapping[str, Any]) -> Room:
    allowed = [{"type": "m.room_membership", "room_id": allow}] if allow else "everybody"
    return room(
        "!room",
        event("m.room.join_rules", {"join_rule": join, "allow": allowed}),
        event("m.room.history_visibility", {"history_visibility": history}),
        *more,
    )


ENCRYPTED = event("m.room.encryption", {"algorithm": "m.megolm.v1.aes-sha2"})


@pytest.mark.parametrize(
    ("found", "in_space", "alone"),
    [
        (rules("public"), True, True),
        (rules("public", "joined"), False, False),
        (rules("public", "invited"), False, False),
        (rules("invite"), False, True),
        (rules("invite", "world_readable"), True, True),
        (rules("restricted", allow="!space"), True, True),
        (rules("knock_restricted", allow="!space"), True, True),
        (rules("restricted", allow="!other"), False, True),
        (rules("restricted"), False, True),
        (rules("knock"), False, True),
        (rules("public", "shared", None, ENCRYPTED), False, False),
        (rules("public", "shared", None, member(BEN, "ban")), False, True),
        (Room("!room"), False, True),
    ],
)
def test_who_reads_a_room(found: Room, in_space: bool, alone: bool) -> None:
    of = space(member(BEN))
    assert (visibility_of(found, of) is Visibility.EVERYONE) is in_space
    assert (visibility_of(found, None) is Visibility.EVERYONE) is alone


def test_a_room_follows_another_only_when_both_say_so() -> None:
    old = room("!old", event("m.room.tombstone", {"replacement_room": "!new"}))
    new = Room("!new")
    new.take(event("m.room.create", {"predecessor": {"room_id": "!old"}}))
    assert follows(new, old)
    assert not follows(Room("!new"), old)
    assert not follows(new, room("!old"))
