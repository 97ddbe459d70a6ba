from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from agent.contracts.context import ContextEntry, ContextItem, Role, Section, Tag
from agent.turn.budget import estimate_tokens, fit, item_cost
from tests.agent.turn.builders import NOW


def an_entry(number: int, tag: Tag, size: int) -> ContextEntry:
    line = f"ID:{number} " + "x" * size
    return ContextEntry(f"{tag}:{number}", line, line, NOW + timedelta(seconds=number))


def a_block(tag: Tag, ages: list[int], size: int = 20) -> ContextItem:
    entries = tuple(an_entry(age, tag, size) for age in ages)
    return ContextItem(tag, Role.SYSTEM, Section.PREFIX, "", entries)


def a_required(tag: Tag, text: str = "x" * 70, section: Section = Section.PREFIX) -> ContextItem:
    return ContextItem(tag, Role.SYSTEM, section, text, required=True)


AGES = st.lists(st.integers(0, 500), unique=True, max_size=30)


@given(AGES, AGES, st.integers(0, 2_000))
def test_what_stays_is_newer_than_what_went(server: list[int], user: list[int], budget: int) -> None:
    items = [
        a_required(Tag.PERSONA),
        a_block(Tag.KNOWLEDGE_SERVER_MEMORIES, server),
        a_block(Tag.KNOWLEDGE_USER_MEMORIES, user),
    ]
    prompt = fit(items, budget)
    gone = [left.identity for left in prompt.left_out if left.identity is not None]
    kept = prompt.identities()
    assert sorted([*kept, *gone]) == sorted(entry.identity for item in items for entry in item.entries)
    age = {entry.identity: entry.recency for item in items for entry in item.entries if entry.recency}
    if kept and gone:
        assert min(age[identity] for identity in kept) >= max(age[identity] for identity in gone)
    assert prompt.items[0].tag is Tag.PERSONA
    size = sum(item_cost(item) for item in prompt.items)
    assert size <= budget or all(item.required or not item.entries for item in prompt.items)


def test_enough_room_changes_nothing() -> None:
    items = [a_required(Tag.PERSONA), a_block(Tag.KNOWLEDGE_SERVER_MEMORIES, [1, 2, 3])]
    prompt = fit(items, 10_000)
    assert prompt.items == tuple(items)
    assert prompt.left_out == ()


def test_history_takes_no_more_than_its_share() -> None:
    history = [a_block(Tag.HISTORY, [number], size=200) for number in range(50)]
    prompt = fit([a_required(Tag.PERSONA), *history], 1_000)
    spent = sum(item_cost(item) for item in prompt.items if item.tag is Tag.HISTORY)
    assert spent <= 500
    newest = [item.entries[0].identity for item in prompt.items if item.tag is Tag.HISTORY]
    assert newest == [f"HISTORY:{number}" for number in range(50 - len(newest), 50)]


def test_blocks_without_ages_go_whole_and_last() -> None:
    lore = ContextItem(Tag.LOREBOOK, Role.SYSTEM, Section.PREFIX, "y" * 700)
    prompt = fit([a_required(Tag.PERSONA), lore, a_block(Tag.KNOWLEDGE_USER_MEMORIES, [1, 2])], 60)
    assert [item.tag for item in prompt.items] == [Tag.PERSONA]
    assert [left.tag for left in prompt.left_out] == [Tag.KNOWLEDGE_USER_MEMORIES] * 2 + [Tag.LOREBOOK]


def test_the_cached_prefix_stands_before_the_tail_in_the_order_of_the_tags() -> None:
    tail = a_required(Tag.NOW, section=Section.TAIL)
    items = [tail, a_block(Tag.KNOWLEDGE_USER_MEMORIES, [1]), a_required(Tag.PERSONA), a_required(Tag.PLACE)]
    tags = [item.tag for item in fit(items, 10_000).items]
    assert tags == [Tag.PERSONA, Tag.PLACE, Tag.KNOWLEDGE_USER_MEMORIES, Tag.NOW]


@given(st.text(), st.text())
def test_the_estimate_grows_with_the_text(one: str, two: str) -> None:
    assert estimate_tokens(one + two) >= max(estimate_tokens(one), estimate_tokens(two))
