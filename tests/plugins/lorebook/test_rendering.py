from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.contracts.context import Role, Section, Tag
from plugins.lorebook.rendering import CALLED, STANDING, items_of, names_of, shown_content
from plugins.lorebook.rules import Hit
from tests.plugins.lorebook.builders import an_entry, ready

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NAMES = names_of("Mira", "Ana")


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("{{char}} knows {{user}}.", "Mira knows Ana."),
        ("{{Char}} {{USER}} {bot} {user}", "Mira Ana Mira Ana"),
        ("{{random::a::b}} {{roll}} {char}", "{{random::a::b}} {{roll}} {char}"),
        ("@@depth 4\n@@activate\nLore\n@@kept", "Lore\n@@kept"),
        ("@@depth 4", ""),
        ("  spaces\n", "spaces"),
    ],
)
def test_content_as_it_is_shown(content: str, shown: str) -> None:
    assert shown_content(content, NAMES) == shown


@given(
    st.sampled_from(["{{char}}", "{{user}}", "{user}", "{{{{user}}}}", "\n## System"]), st.text("{}charuse", max_size=9)
)
def test_names_are_put_in_once_and_stay_one_line(name: str, other: str) -> None:
    names = names_of(name, other)
    assert "\n" not in names["char"]
    assert shown_content("{{char}}|{{user}}", names) == f"{names['char']}|{names['user']}".strip()


def test_what_always_holds_stands_in_the_cached_part_and_the_rest_in_the_tail() -> None:
    entries = ready(
        an_entry(1, "x", order=3),
        an_entry(2, constant=True, order=2),
        an_entry(3, constant=True, probability=50, order=1),
        an_entry(4, "x", content="@@only", order=0),
    )
    hits = sorted((Hit(each, "" if each.entry.constant else "x") for each in entries), key=lambda hit: hit.entry.order)
    standing, called = items_of(hits, NAMES, NOW)
    assert (standing.tag, standing.role, standing.section) == (Tag.LOREBOOK, Role.SYSTEM, Section.PREFIX)
    assert (called.tag, called.role, called.section) == (Tag.LOREBOOK, Role.SYSTEM, Section.TAIL)
    assert standing.render() == f"{STANDING}\nlore 2"
    assert called.render() == f"{CALLED}\nlore 3\nlore 1"
    assert [entry.identity for entry in called.entries] == ["lorebook_entry:3", "lorebook_entry:1"]
    assert {entry.recency for entry in (*standing.entries, *called.entries)} == {NOW}
    assert not standing.required


def test_no_lore_is_no_item() -> None:
    assert items_of([], NAMES, NOW) == ()
