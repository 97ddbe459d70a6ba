"""The index of names in memory, beside a plain reading of all names."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

from agent.identity import suggestions
from agent.identity.index import NEAR, SHORTEST, NameIndex, least_shared, pairs_of
from agent.identity.names import skeletons

type People = dict[int, list[str]]

LETTERS = st.text("abmcdéО0 ", min_size=0, max_size=14)
CHANGES = st.lists(st.tuples(st.integers(1, 6), st.lists(LETTERS.filter(bool), max_size=4, unique=True)), max_size=25)


def looks_of(names: Iterable[str]) -> frozenset[str]:
    return frozenset[str]().union(*map(skeletons, names))


def made(people: People) -> NameIndex:
    index = NameIndex()
    for account_id, names in people.items():
        index.append(account_id, names, looks_of(names))
    index.sort()
    return index


def put(index: NameIndex, account_id: int, *names: str) -> None:
    index.put(account_id, names, looks_of(names))


def nearness(wanted: str, name: str) -> float:
    if min(len(wanted), len(name)) < SHORTEST or pairs_of(wanted).isdisjoint(pairs_of(name)):
        return 0.0
    similarity, ratio = OSA.normalized_similarity(wanted, name), fuzz.ratio(wanted, name)
    return max(similarity * 100, ratio) if similarity >= NEAR or ratio >= NEAR * 100 else 0.0


def plainly_near(wanted: str, people: People) -> dict[int, float]:
    """Return who has a near name by comparing every name, with the best score."""
    scores = {each: max((nearness(wanted, name) for name in names), default=0.0) for each, names in people.items()}
    return {each: score for each, score in scores.items() if score}


def assert_true(index: NameIndex, people: People, wanted: Iterable[str]) -> None:
    """Check every answer against a plain reading of all names."""
    assert len(index) == sum(map(len, people.values()))
    for account_id in range(1, 7):
        assert index.names_of(account_id) == set(people.get(account_id, ()))
    for name in wanted:
        assert index.owners(name) == {each for each, names in people.items() if name in names}
        looks = skeletons(name)
        alike = {each for each, names in people.items() if not looks.isdisjoint(looks_of(names))}
        assert index.lookalikes(looks) == alike
        near = plainly_near(name, people)
        found = index.near(name, 99)
        assert sorted(found) == sorted(near)
        assert [near[each] for each in found] == sorted(near.values(), reverse=True)
        assert index.near(name, 1) == found[:1]


def test_the_bounds_are_those_of_suggestions() -> None:
    assert (SHORTEST, NEAR) == (suggestions.SHORTEST, suggestions._NEAR)


def test_owners_of_a_name() -> None:
    index = made({2: ["ana", "ana m"], 1: ["ana"], 3: ["ben"]})
    assert index.owners("ana") == {1, 2}
    assert index.owners("nobody") == set()
    put(index, 2, "ben")
    assert [set(index.owners(name)) for name in ("ana", "ana m", "ben")] == [{1}, set(), {2, 3}]
    put(index, 3)
    assert index.owners("ben") == {2}
    assert not index.names_of(3)
    assert len(index) == 2


def test_names_that_look_alike() -> None:
    index = made({1: ["Bob"], 2: ["\u0412ob"], 3: ["Rob"]})
    assert index.lookalikes(skeletons("Bob")) == {1, 2}
    put(index, 1, "Bea")
    assert index.lookalikes(skeletons("Bob")) == {2}


def test_near_names_come_nearest_first() -> None:
    index = made({1: ["daniela"], 2: ["daniel"], 3: ["dan"], 4: ["hannah"], 5: ["danielle"]})
    assert index.near("daniell", 10) == (5, 2, 1)
    assert index.near("daniell", 1) == (5,)
    assert index.near("dan", 10) == ()
    assert index.near("quentin", 10) == ()
    assert NameIndex().near("quentin", 10) == ()


def test_numbers_of_names_are_used_again() -> None:
    index = NameIndex()
    for number in range(200):
        put(index, 1, f"name {number}", f"other {number}")
    assert index.near("name 199", 5) == (1,)
    assert len(index._names) <= 4
    put(index, 1)
    assert (index._pairs, len(index), index.near("name 199", 5)) == ({}, 0, ())


def test_more_names_than_two_bytes_can_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.identity.index._SMALL", 8)
    people = {number: [f"person {number:03}"] for number in range(1, 30)}
    index = made(people)
    assert index._type == "I"
    assert set(index.near("person 017", 99)) == plainly_near("person 017", people).keys()
    for number in people:
        put(index, number)
    assert index._pairs == {}


@given(CHANGES, CHANGES, LETTERS)
def test_after_any_changes_it_is_as_if_read_anew(
    first: list[tuple[int, list[str]]], changes: list[tuple[int, list[str]]], wanted: str
) -> None:
    people: People = {account_id: names for account_id, names in first if names}
    index = made(people)
    for account_id, names in changes:
        put(index, account_id, *names)
        people.pop(account_id, None)
        if names:
            people[account_id] = names
    assert_true(index, people, {name for _, names in changes for name in names} | {wanted})


def edited(text: str, edits: Iterable[tuple[int, str, str]]) -> str:
    for place, kind, letter in edits:
        at = place % (len(text) + 1)
        match kind:
            case "insert":
                text = text[:at] + letter + text[at:]
            case "delete":
                text = text[:at] + text[at + 1 :]
            case "replace":
                text = text[:at] + letter + text[at + 1 :]
            case _:
                text = text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :]
    return text


EDITS = st.lists(
    st.tuples(st.integers(0, 40), st.sampled_from(["insert", "delete", "replace", "swap"]), st.sampled_from("abcx")),
    max_size=8,
)


@given(st.text("abcdefghij", min_size=4, max_size=40), EDITS)
def test_no_near_name_shares_fewer_pairs_than_the_least(wanted: str, edits: list[tuple[int, str, str]]) -> None:
    name = edited(wanted, edits)
    pairs = pairs_of(wanted)
    if nearness(wanted, name):
        least = least_shared(len(wanted), len(pairs))
        assert len(name) < len(least)
        assert len(pairs & pairs_of(name)) >= least[len(name)]
