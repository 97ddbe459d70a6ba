from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.lorebook.book import Entry, Logic
from plugins.lorebook.rules import Activation, Limits, Ready, activate, holds
from tests.plugins.lorebook.builders import a_search, an_entry, ready, scan, uids

FAR = Limits(recursion=3, tokens=1_000_000)


def test_an_entry_joins_when_one_of_its_keys_is_said() -> None:
    entries = ready(an_entry(1, "dragon", "wyrm"), an_entry(2, "castle"), an_entry(3, "/kni(ght|fe)s?/i"))
    assert uids(scan(entries, "The Dragon sleeps")) == [1]
    assert uids(scan(entries, "wyrms? no, a wyrm")) == [1]
    assert uids(scan(entries, "two KNIGHTS")) == [3]
    assert uids(scan(entries, "dragonfly")) == []
    (hit,) = scan(entries, "a wyrm").hits
    assert (hit.key, hit.step) == ("wyrm", 0)


@pytest.mark.parametrize(
    ("logic", "texts"),
    [
        (Logic.AND_ANY, {"king": False, "king red": True, "king blue": True, "king red blue": True, "red": False}),
        (Logic.AND_ALL, {"king": False, "king red": False, "king blue": False, "king red blue": True}),
        (Logic.NOT_ANY, {"king": True, "king red": False, "king blue": False, "king red blue": False, "": False}),
        (Logic.NOT_ALL, {"king": True, "king red": True, "king blue": True, "king red blue": False, "red": False}),
    ],
)
def test_secondary_keys(logic: Logic, texts: dict[str, bool]) -> None:
    entry = an_entry(1, "king", secondary_keys=("red", "/blue/"), logic=logic)
    assert {text: bool(scan(ready(entry), text).hits) for text in texts} == texts
    assert uids(scan(ready(replace(entry, selective=False)), "king")) == [1]
    assert uids(scan(ready(replace(entry, secondary_keys=())), "king")) == [1]


@given(st.sampled_from(Logic), st.integers(0, 5), st.integers(1, 5))
def test_each_logic_is_the_opposite_of_another(logic: Logic, said: int, of: int) -> None:
    opposite = {
        Logic.AND_ANY: Logic.NOT_ANY,
        Logic.NOT_ANY: Logic.AND_ANY,
        Logic.AND_ALL: Logic.NOT_ALL,
        Logic.NOT_ALL: Logic.AND_ALL,
    }
    said = min(said, of)
    assert holds(logic, said, of) is not holds(opposite[logic], said, of)


def test_how_far_back_is_read() -> None:
    messages = ("now", "one back: dragon", "two back: castle")
    assert uids(scan(ready(an_entry(1, "dragon", scan_depth=1)), *messages)) == []
    assert uids(scan(ready(an_entry(1, "dragon", scan_depth=2)), *messages)) == [1]
    assert uids(scan(ready(an_entry(1, "dragon"), scan_depth=1), *messages)) == []
    assert uids(scan(ready(an_entry(1, "castle"), scan_depth=3), *messages)) == [1]
    assert uids(scan(ready(an_entry(1, "now", scan_depth=0)), *messages)) == []
    secondary = an_entry(1, "dragon", secondary_keys=("castle",), scan_depth=3)
    assert uids(scan(ready(secondary), *messages)) == [1]


def test_keys_do_not_reach_over_two_messages() -> None:
    assert uids(scan(ready(an_entry(1, "dark lord")), "lord", "the dark")) == []


def test_flags_of_an_entry_go_before_the_deployments() -> None:
    assert uids(scan(ready(an_entry(1, "art", whole_words=False)), "party")) == [1]
    assert uids(scan(ready(an_entry(1, "Art", case_sensitive=True)), "art")) == []
    assert uids(scan(ready(an_entry(1, "Art", case_sensitive=True)), "Art")) == [1]


def test_constant_and_disabled_entries() -> None:
    entries = ready(an_entry(1, constant=True), an_entry(2, "x", enabled=False), an_entry(3), an_entry(4, "x"))
    assert uids(scan(entries, "x")) == [1, 4]
    assert uids(scan(ready(an_entry(1, "x", content="  ")), "x")) == []


def test_what_entries_say_activates_others_up_to_a_limit() -> None:
    chain = [an_entry(number, f"k{number}", content=f"see k{number + 1}") for number in range(1, 7)]
    for limit in range(5):
        activation = scan(ready(*chain), "k1", limits=Limits(recursion=limit))
        assert uids(activation) == list(range(1, limit + 2))
        assert [hit.step for hit in activation.hits] == list(range(limit + 1))


def test_a_circle_ends() -> None:
    circle = [an_entry(1, "a", content="b"), an_entry(2, "b", content="a")]
    assert uids(scan(ready(*circle), "a", limits=Limits(recursion=10))) == [1, 2]


def test_flags_of_recursion() -> None:
    first = an_entry(1, "a", content="b")
    assert uids(scan(ready(first, an_entry(2, "b", exclude_recursion=True)), "a")) == [1]
    assert uids(scan(ready(first, an_entry(2, "b", exclude_recursion=True)), "a b")) == [1, 2]
    assert uids(scan(ready(replace(first, prevent_recursion=True), an_entry(2, "b")), "a")) == [1]
    assert uids(scan(ready(first, an_entry(2, "b"), recursive=False), "a")) == [1]
    late = an_entry(2, "b", delay_until_recursion=True)
    assert [hit.step for hit in scan(ready(first, late), "a b").hits] == [0, 1]
    assert uids(scan(ready(late), "b")) == [2]
    assert uids(scan(ready(late), "b", limits=Limits(recursion=0))) == []
    assert uids(scan(ready(an_entry(1, constant=True, content="b"), an_entry(2, "b")), "x")) == [1, 2]


def test_a_secondary_key_may_stand_in_what_another_entry_says() -> None:
    entries = ready(an_entry(1, "a", content="red"), an_entry(2, "king", secondary_keys=("red",)))
    assert uids(scan(entries, "a king")) == [1, 2]


def test_some_entries_join_only_sometimes() -> None:
    entries = ready(an_entry(1, "x", probability=60), an_entry(2, constant=True, probability=40), an_entry(3, "x"))
    assert uids(scan(entries, "x", chance=59.9)) == [1, 3]
    assert uids(scan(entries, "x", chance=60.0)) == [3]
    assert uids(scan(entries, "x", chance=0.0)) == [1, 2, 3]
    assert uids(scan(ready(an_entry(1, "x", probability=0)), "x", chance=0.0)) == []


def test_the_order_of_insertion() -> None:
    entries = ready(an_entry(1, "x", order=200), an_entry(2, "x", order=-5), an_entry(3, "x", order=200))
    assert uids(scan(entries, "x")) == [2, 1, 3]


def test_a_short_budget_keeps_constant_entries_then_those_of_higher_order() -> None:
    entries = ready(
        an_entry(1, "x", content="a" * 350, order=10),
        an_entry(2, "x", content="b" * 350, order=30),
        an_entry(3, constant=True, content="c" * 350, order=1),
        an_entry(4, "x", content="d", order=5),
    )
    activation = scan(entries, "x", limits=Limits(tokens=210))
    assert uids(activation) == [3, 2]
    assert [hit.entry.uid for hit in activation.left_out] == [4, 1]


def test_a_book_may_have_a_budget_of_its_own() -> None:
    entries = ready(an_entry(1, "x", content="a" * 350, order=10), an_entry(2, "x", content="b" * 350, order=30))
    other = tuple(replace(made, book_id=2) for made in ready(an_entry(3, "x", content="c" * 350, order=1)))
    activation = activate(
        [*entries, *other],
        ["x"],
        search=a_search(),
        chance=lambda _: 0.0,
        limits=Limits(tokens=1_000),
        budgets={1: 110, 2: 5_000},
    )
    assert uids(activation) == [3, 2]


WORDS = ["red", "king", "sea", "/se+a/", "old king", "fox"]
entries_of_any_kind = st.lists(
    st.builds(
        Entry,
        content=st.lists(st.sampled_from(["red", "king", "sea", "fox", "owl"]), max_size=4).map(" ".join),
        keys=st.lists(st.sampled_from(WORDS), max_size=3, unique=True).map(tuple),
        secondary_keys=st.lists(st.sampled_from(WORDS), max_size=2, unique=True).map(tuple),
        logic=st.sampled_from(Logic),
        constant=st.booleans(),
        enabled=st.sampled_from([True, True, True, False]),
        order=st.integers(0, 3),
        scan_depth=st.none() | st.integers(0, 3),
        whole_words=st.none() | st.booleans(),
        exclude_recursion=st.booleans(),
        prevent_recursion=st.booleans(),
        delay_until_recursion=st.booleans(),
    ),
    max_size=8,
).map(lambda entries: [replace(entry, uid=number, entry_id=number) for number, entry in enumerate(entries, start=1)])
talk = st.lists(st.lists(st.sampled_from([*"ab", "red", "king", "sea", "foxes", "old"]), max_size=5).map(" ".join))


def said(key: str, text: str, whole: bool) -> bool:
    if key.startswith("/"):
        return re.search(key[1:-1], text) is not None
    return re.search(rf"\b{key}\b" if whole else key, text) is not None


def plainly(entries: list[Entry], messages: Sequence[str], steps: int) -> set[int]:
    """The rules once more, as plainly as can be."""
    active: list[Entry] = [entry for entry in entries if entry.enabled and entry.content and entry.constant]
    spoken = [entry.content for entry in active if not entry.prevent_recursion]
    heard: list[str] = []
    for step in range(steps + 1):
        delayed = step == 1 and any(
            e.delay_until_recursion and e.keys and e not in active for e in entries if e.enabled
        )
        if step:
            if not spoken and not delayed:
                break
            heard, spoken = heard + spoken, []
        fresh = []
        for entry in entries:
            if not entry.enabled or not entry.content or entry in active or entry.constant:
                continue
            if entry.delay_until_recursion and not step:
                continue
            depth = 4 if entry.scan_depth is None else entry.scan_depth
            text = "\n".join([*reversed(messages[:depth]), *([] if entry.exclude_recursion else heard)])
            whole = entry.whole_words is not False
            count = sum(said(key, text, whole) for key in entry.secondary_keys)
            if any(said(key, text, whole) for key in entry.keys) and holds(
                entry.logic, count, len(entry.secondary_keys)
            ):
                fresh.append(entry)
        active += fresh
        spoken += [entry.content for entry in fresh if not entry.prevent_recursion]
    return {entry.uid for entry in active}


def unbudgeted(entries: Sequence[Ready], messages: Sequence[str], limits: Limits) -> Activation:
    return activate(entries, messages, search=a_search(), chance=lambda _: 0.0, limits=limits)


@given(entries_of_any_kind, talk, st.integers(0, 3))
def test_the_rules_are_what_they_plainly_are(entries: list[Entry], messages: list[str], steps: int) -> None:
    activation = unbudgeted(ready(*entries), messages, Limits(recursion=steps, tokens=1_000_000))
    assert set(uids(activation)) == plainly(entries, messages, steps)
    assert len(activation.hits) == len(set(uids(activation)))


@given(entries_of_any_kind, talk, st.integers(0, 60))
def test_the_budget_holds_and_what_it_left_out_is_said(entries: list[Entry], messages: list[str], tokens: int) -> None:
    made = ready(*entries)
    everything = unbudgeted(made, messages, FAR)
    within = unbudgeted(made, messages, replace(FAR, tokens=tokens))
    assert sum(hit.ready.cost for hit in within.hits) <= tokens
    gone = {hit.entry.uid for hit in within.left_out}
    assert gone.isdisjoint(uids(within))
    ranks = {uid: rank for rank, uid in enumerate(uids(everything))}
    assert uids(within) == sorted(uids(within), key=ranks.__getitem__)
    if not gone:
        assert within == everything
    first = [hit for hit in within.hits if hit.step == 0]
    if any(hit.entry.constant for hit in within.left_out):
        assert all(hit.entry.constant for hit in first)
    elif gone and min(hit.step for hit in within.left_out) == 0:
        assert len(within.hits) == len(first)


def test_what_does_not_fit_activates_nothing() -> None:
    entries = ready(
        an_entry(1, "x", content="see y " * 10, order=1),
        an_entry(2, "x", content="see z", order=2),
        an_entry(3, "y", content="short"),
        an_entry(4, "z", content="short"),
    )
    activation = scan(entries, "x", limits=Limits(tokens=12))
    assert uids(activation) == [2]
    assert [hit.entry.uid for hit in activation.left_out] == [1]
