import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridges.relay.names import Names, escape, unescape
from bridges.relay.to_discord_text import guise_name

NAMES = Names("_isthmus_", "isthmus_relay", "home.test")


@given(st.text(min_size=1, max_size=30))
def test_escaping_is_undone_and_holds_only_what_an_id_may(identifier: str) -> None:
    found = escape(identifier)
    assert re.fullmatch(r"[a-z0-9._=-]+", found)
    if not found.startswith("=h") or len(found) < 60:
        assert unescape(found) == identifier.encode("utf-8", "replace").decode()


@given(st.text(min_size=1, max_size=300), st.text(min_size=1, max_size=300))
def test_two_people_never_share_a_user(one: str, other: str) -> None:
    if one.encode("utf-8", "replace") != other.encode("utf-8", "replace"):
        assert NAMES.person(one) != NAMES.person(other)
    assert len(NAMES.person(one).encode()) <= 255


@pytest.mark.parametrize(
    ("user", "is_own", "person"),
    [
        ("@_isthmus_123:home.test", True, "123"),
        ("@_isthmus_=41:home.test", True, "A"),
        ("@_isthmus_=persona7:home.test", True, None),
        ("@isthmus_relay:home.test", True, None),
        ("@_isthmus_123:home.test.evil", False, None),
        ("@_isthmus_123:evil", False, None),
        ("x@_isthmus_123:home.test", False, None),
        ("@_isthmus_:home.test", False, None),
        ("@_isthmus_123:homextest", False, None),
        ("@_isthmus_1\n:home.test", False, None),
        ("@isthmus_relay:evil", False, None),
        ("@cyn:home.test", False, None),
    ],
)
def test_the_relays_users_are_matched_whole(user: str, is_own: bool, person: str | None) -> None:
    assert (NAMES.is_own(user), NAMES.person_of(user)) == (is_own, person)


def test_a_persona_is_no_person_of_that_name() -> None:
    assert NAMES.person("=persona7") != NAMES.persona(7)
    assert NAMES.is_agent(NAMES.persona(7))
    assert not NAMES.is_agent(NAMES.person("=persona7"))


@pytest.mark.parametrize(
    ("name", "user", "is_apart", "shown"),
    [
        ("Cyn", "@cyn:a.b", False, "Cyn"),
        ("Cyn", "@cyn:a.b", True, "Cyn (@cyn:a.b)"),
        ("Cyn (@cyn:a.b)", "@cyn:a.b", False, "Cyn (@cyn:a.b)"),
        ("Cyn (@cyn:a.b)", "@cyn:a.b", True, "Cyn (@cyn:a.b)"),
        ("x" * 100, "@cyn:a.b", True, "x" * 69 + " (@cyn:a.b)"),
        ("x" * 100, "@cyn:a.b", False, "x" * 80),
    ],
)
def test_names_are_told_apart(name: str, user: str, is_apart: bool, shown: str) -> None:
    assert guise_name(name, user, is_apart=is_apart) == shown


def test_long_ids_are_told_apart_as_well() -> None:
    one = guise_name("Cyn", "@" + "a" * 90 + "x" + "a" * 90 + ":a.b", is_apart=True)
    other = guise_name("Cyn", "@" + "a" * 90 + "y" + "a" * 90 + ":a.b", is_apart=True)
    assert one != other
    assert max(len(one), len(other)) <= 80
