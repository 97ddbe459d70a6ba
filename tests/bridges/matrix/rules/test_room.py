from typing import Any

import pytest

from bridges.matrix.rules.room import INFINITE, Room, disambiguated, is_direct, room_name, shown_name, shown_names
from tests.bridges.matrix.rules.states import AGENT, ANA, BEN, OWNER, event, member, room


def levels(**content: Any) -> dict[str, Any]:
    return event("m.room.power_levels", content)


@pytest.mark.parametrize(
    ("found", "who", "power"),
    [
        (room(), OWNER, INFINITE),
        (room(), ANA, 0),
        (room(version="11"), OWNER, 100),
        (room("!r", levels(users={}), version="11"), OWNER, 0),
        (room("!r", levels(users={OWNER: 0})), OWNER, INFINITE),
        (room("!r", levels(users={ANA: 50})), ANA, 50),
        (room("!r", levels(users={ANA: "50"}), version="9"), ANA, 50),
        (room("!r", levels(users_default=25)), BEN, 25),
        (room("!r", levels(users={ANA: "much"}, users_default="x")), ANA, 0),
        (room("!r", levels(users={ANA: True})), ANA, 0),
        (room("!r", levels(users=[ANA])), ANA, 0),
        (Room("!r"), "", 0),
    ],
)
def test_power(found: Room, who: str, power: int) -> None:
    assert found.power(who) == power


def test_further_creators_stand_as_high_and_only_in_new_rooms() -> None:
    for version, power in (("12", INFINITE), ("11", 0)):
        found = Room("!r")
        found.take(event("m.room.create", {"room_version": version, "additional_creators": [ANA, 7]}))
        assert found.power(ANA) == power


def test_names_that_several_bear_get_their_ids() -> None:
    found = room("!r", member(ANA, name="Ana"), member(BEN, "invite", "Ana"), member("@eve:c", name=OWNER))
    assert shown_names(found) == {
        ANA: f"Ana ({ANA})",
        BEN: f"Ana ({BEN})",
        "@eve:c": f"{OWNER} (@eve:c)",
        OWNER: OWNER,
    }
    found.take(member(BEN, "leave"))
    assert shown_name(found, ANA) == "Ana"
    assert shown_name(found, BEN) == BEN
    assert shown_name(found, "@nobody:c") == "@nobody:c"


def test_a_made_up_name_is_no_id_of_another() -> None:
    assert disambiguated({"@a:b": "Ana", "@c:d": "Ana (@a:b)"})["@a:b"] == "Ana"
    assert disambiguated({"@a:b": "@c:d", "@c:d": "Ben"}) == {"@a:b": "@c:d (@a:b)", "@c:d": "Ben"}


@pytest.mark.parametrize(
    ("found", "name"),
    [
        (room("!r", event("m.room.name", {"name": " Tea "})), "Tea"),
        (room("!r", event("m.room.name", {"name": 7}), member(ANA, name="Ana")), f"Ana, {OWNER}"),
        (room("!r", event("m.room.canonical_alias", {"alias": "#tea:a.org"})), "#tea:a.org"),
        (room("!r", event("m.room.canonical_alias", {"alias": "tea"})), OWNER),
        (room("!r", *(member(f"@u{n}:a", name=f"U{n}") for n in range(5))), f"{OWNER}, U0, U1, +3"),
        (Room("!r"), "!r"),
    ],
)
def test_how_a_room_is_called(found: Room, name: str) -> None:
    assert room_name(found, AGENT) == name


@pytest.mark.parametrize(
    ("members", "marked", "direct"),
    [
        ([member(AGENT)], True, True),
        ([member(AGENT)], False, False),
        ([member(AGENT), member(ANA)], True, False),
        ([member(AGENT), member(ANA, "invite")], True, False),
        ([member(AGENT), member(ANA, "leave")], True, True),
    ],
)
def test_a_direct_conversation_has_no_third(members: list[dict[str, Any]], marked: bool, direct: bool) -> None:
    assert is_direct(room("!r", *members), AGENT, is_marked=marked) is direct


def test_state_that_is_none_is_left_alone() -> None:
    found = Room("!r")
    found.take({"type": "m.room.name", "content": {"name": "x"}})
    found.take({"type": 7, "state_key": ""})
    assert found.state == {}
