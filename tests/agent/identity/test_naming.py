from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.identity.naming import Bearer, naming


def a_bearer(label: str, *names: str) -> Bearer:
    return Bearer(frozenset({label}), label, names)


PEOPLE = (
    a_bearer("Anna"),
    a_bearer("Anna Berg", "aberg"),
    a_bearer("Alex"),
    a_bearer("Alexa"),
    a_bearer("Sam O'Dell"),
    a_bearer("Wren (Lark system)"),
    a_bearer("田中"),
    Bearer(frozenset(), "Isthmus"),
)


@pytest.mark.parametrize(
    ("text", "who", "rest"),
    [
        ("what does Anna eat?", {"Anna"}, "what does eat?"),
        ("what is Anna Berg's sport?", {"Anna Berg"}, "what is sport?"),
        ("what is ANNA  BERG’s sport", {"Anna Berg"}, "what is sport"),
        ("has @aberg arrived", {"Anna Berg"}, "has @ arrived"),
        ("alexa's flat", {"Alexa"}, "flat"),
        ("Alex, Alexa and Anna.", {"Alex", "Alexa", "Anna"}, ", and ."),
        ("when is (Alex) here", {"Alex"}, "when is () here"),
        ("where is Sam O'Dell's ferry", {"Sam O'Dell"}, "where is ferry"),
        ("is Wren (Lark system) in?", {"Wren (Lark system)"}, "is in?"),
        ("is Wren in?", {"Wren (Lark system)"}, "is in?"),
        ("Isthmus, where is Anna", {"Anna"}, ", where is"),
        ("Isthmus, where is the tea", set(), ", where is the tea"),
        ("a banana for annabel", set(), "a banana for annabel"),
        ("Wren?", {"Wren (Lark system)"}, "Wren?"),
        ("田中さんは何が好き", {"田中"}, "田中さんは何が好き"),
        ("", set(), ""),
    ],
)
def test_whom_a_text_names(text: str, who: set[str], rest: str) -> None:
    said = naming(text, PEOPLE)
    assert said.keys == who
    assert said.rest == rest


def test_a_name_that_several_bear_means_the_one_who_is_called_so() -> None:
    people = (a_bearer("Ben"), a_bearer("Bennie", "ben"))
    assert naming("what about ben", people).keys == {"Ben"}


@pytest.mark.parametrize("people", [(a_bearer("A", "ben"), a_bearer("B", "ben")), (a_bearer("Ben"), a_bearer("ben"))])
def test_a_name_that_several_bear_alike_means_nobody(people: tuple[Bearer, ...]) -> None:
    said = naming("what about ben", people)
    assert (said.keys, said.rest) == (frozenset(), "what about ben")


def test_one_person_with_a_name_twice_is_one() -> None:
    keys = frozenset({"user:1"})
    assert naming("what about ben", [Bearer(keys, "Ben"), Bearer(keys, "Ben", ("ben",))]).keys == keys


@given(st.text(), st.lists(st.text(min_size=1, max_size=12), max_size=6))
def test_nothing_is_invented(text: str, labels: list[str]) -> None:
    said = naming(text, [Bearer(frozenset({label}), label) for label in labels])
    assert said.keys <= set(labels)
    assert set(said.rest) <= set(text[:2_000]) | {" "}


@given(st.sampled_from(["Anna", "Anna Berg", "Alexa", "Sam O'Dell"]), st.sampled_from("?,.!: "))
def test_a_label_always_means_its_bearer(label: str, mark: str) -> None:
    assert naming(f"and now {label}{mark} what else", PEOPLE).keys == {label}
