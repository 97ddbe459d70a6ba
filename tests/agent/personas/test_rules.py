import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.contracts.people import Persona
from agent.identity.names import normalise
from agent.personas.rules import (
    MOST_PERSONAS,
    PersonaRefused,
    check_affixes,
    check_avatar,
    check_lineage,
    check_name,
    check_prompt,
    check_room,
    check_triggers,
    find,
    split_words,
)

MIRRI = Persona(1, 1, 1, "Mirri", "", None, ("fox", "master mirri"), is_default=True)
OTTO = Persona(2, 1, 2, "Otto", "", None, (), is_default=False)
BOTH = (MIRRI, OTTO)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("  Captain  Otto ", "Captain Otto"),
        ("Ot\u200bto\n2", "Otto 2"),
        ("🦊", "🦊"),
        ("Zoë", "Zoë"),
        ("A" * 80, "A" * 80),
    ],
)
def test_a_name_is_kept_in_one_line_with_nothing_hidden(typed: str, kept: str) -> None:
    assert check_name(typed, BOTH) == kept


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("", "cannot be empty"),
        (" \u200b\n", "cannot be empty"),
        ("\u2800", "cannot be empty"),
        ("A" * 81, "at most 80 characters, this one 81"),
        ("everyone", "means something else"),
        ("{user}", "means something else"),
        ("@here", "means something else"),
        ("ＭＩＲＲＩ", "a persona called Mirri here already"),
        (" otto", "a persona called Otto here already"),
        ("Fox", "“Fox” calls the persona Mirri already"),
    ],
)
def test_a_name_that_cannot_be(typed: str, says: str) -> None:
    with pytest.raises(PersonaRefused, match=re.escape(says)):
        check_name(typed, BOTH)


@given(st.text(max_size=90))
def test_every_name_is_one_line_that_calls_one_persona(typed: str) -> None:
    try:
        name = check_name(typed, BOTH)
    except PersonaRefused:
        return
    assert len(name.splitlines()) == 1
    assert 0 < len(name) <= 80
    assert check_name(name, BOTH) == name
    assert normalise(name) not in {"mirri", "otto", "fox", "master mirri"}


def test_prompts() -> None:
    assert check_prompt("  You are {bot}.\r\nBe kind.\x07 ") == "You are {bot}.\nBe kind."
    assert len(check_prompt("x" * 8_000)) == 8_000
    with pytest.raises(PersonaRefused, match="cannot be empty"):
        check_prompt("\x00 \n")
    with pytest.raises(PersonaRefused, match="at most 8000 characters, this one 8001"):
        check_prompt("x" * 8_001)


@pytest.mark.parametrize("address", ["https://example.org/a.png", "http://127.0.0.1:8000/x?y=1", "HTTPS://example.org"])
def test_pictures(address: str) -> None:
    assert check_avatar(f" {address} ") == address


def test_no_picture() -> None:
    assert check_avatar("None") is None


@pytest.mark.parametrize(
    "address",
    [
        "",
        "example.org/a.png",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://",
        "https://a b.org/",
        "https://[::1",
        "https://example.org/" + "x" * 2_000,
    ],
)
def test_what_is_no_picture(address: str) -> None:
    with pytest.raises(PersonaRefused, match="must be an address"):
        check_avatar(address)


@pytest.mark.parametrize(
    ("typed", "parts"),
    [
        ("captain, my captain,,", ("captain", "my captain")),
        ("none", ()),
        (" NONE ", ()),
        ("", ()),
        ("a, none", ("a", "none")),
    ],
)
def test_triggers_as_they_are_typed(typed: str, parts: tuple[str, ...]) -> None:
    assert split_words(typed) == parts


def test_triggers_are_kept_once_in_their_order() -> None:
    assert check_triggers(["Captain", "船長", "CAPTAIN", "🐙"], BOTH) == ("Captain", "船長", "🐙")
    assert check_triggers([], BOTH) == ()


@pytest.mark.parametrize(
    ("triggers", "says"),
    [
        ([" "], "between 1 and 64"),
        (["x" * 65], "between 1 and 64"),
        (["x"], "too short"),
        (["fox"], "calls the persona Mirri already"),
        (["OTTO"], "a persona called Otto"),
        ([f"word{number}" for number in range(21)], "at most 20 triggers"),
    ],
)
def test_triggers_that_cannot_be(triggers: list[str], says: str) -> None:
    with pytest.raises(PersonaRefused, match=says):
        check_triggers(triggers, BOTH)


@pytest.mark.parametrize(
    ("affixes", "says"),
    [
        ([" "], "between 1 and 32"),
        (["-"], "between 1 and 32"),
        (["\u200b"], "between 1 and 32"),
        (["x" * 33], "between 1 and 32"),
        ([f"word{number}" for number in range(11)], "at most 10 words"),
    ],
)
def test_affixes_that_cannot_be(affixes: list[str], says: str) -> None:
    with pytest.raises(PersonaRefused, match=says):
        check_affixes(affixes)


def test_there_is_room_for_so_many() -> None:
    check_room([OTTO] * (MOST_PERSONAS - 1))
    with pytest.raises(PersonaRefused, match="delete one first"):
        check_room([OTTO] * MOST_PERSONAS)


def test_lineages() -> None:
    assert check_lineage(1) == 1
    with pytest.raises(PersonaRefused, match="Lineage 0"):
        check_lineage(0)
    for wrong in (-1, 2**63):
        with pytest.raises(PersonaRefused, match="no lineage"):
            check_lineage(wrong)


def test_finding_names_those_that_there_are() -> None:
    assert find(BOTH, "OTTO") == OTTO
    with pytest.raises(PersonaRefused, match=re.escape("There is no persona “Ben” here. There are: Mirri, Otto.")):
        find(BOTH, "Ben")


def test_a_refusal_is_said_with_its_values() -> None:
    refused = PersonaRefused("There is no lineage {lineage}.", lineage=7)
    assert (refused.msgid, refused.values, str(refused)) == (
        "There is no lineage {lineage}.",
        {"lineage": 7},
        "There is no lineage 7.",
    )
