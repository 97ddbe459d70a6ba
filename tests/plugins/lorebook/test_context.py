from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.bridge import HistoryMessage
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.places import Channel, ChannelRef, Place
from plugins.lorebook.book import Scope
from plugins.lorebook.context import LoreContext, chance_for, said_in
from plugins.lorebook.rules import Defaults
from plugins.lorebook.settings import LorebookSettings
from plugins.lorebook.shelf import Shelf, Shelves, applies, make_shelf
from tests.agent.turn.builders import a_place, a_turn, an_author
from tests.plugins.lorebook.builders import a_book, an_entry

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_draws_are_the_same_for_the_same_message_and_even_over_many() -> None:
    entries = [an_entry(number) for number in range(2_000)]
    draws = [chance_for("m1")(entry) for entry in entries]
    assert draws == [chance_for("m1")(entry) for entry in entries]
    assert draws != [chance_for("m2")(entry) for entry in entries]
    assert all(0 <= draw < 100 for draw in draws)
    assert 45 < sum(draws) / len(draws) < 55


@given(st.text())
def test_any_message_can_be_drawn_for(message: str) -> None:
    assert 0 <= chance_for(message)(an_entry(1)) < 100


def said(text: str, name: str = "ana", *, from_agent: bool = False) -> HistoryMessage:
    return HistoryMessage(text[:8], an_author(name), text, NOW, from_agent)


def test_only_what_the_prompt_shows_is_read() -> None:
    history = (said("oldest"), said("hidden", "invisible"), said("answer", "Isthmus", from_agent=True), said("x" * 50))
    turn = replace(a_turn("now"), history=history)
    assert said_in(turn, 10, 100) == ["now", "x" * 10, "answer", "oldest"]


def test_no_more_is_read_than_the_deepest_entry_asks() -> None:
    turn = replace(a_turn("now"), history=(said("a"), said("b")))
    assert [said_in(turn, 10, depth) for depth in range(4)] == [[], ["now"], ["now", "b"], ["now", "b", "a"]]


def test_mentions_are_read_by_name() -> None:
    turn = a_turn("<@ana> and <@nobody> ask <@bot-id> in <#c1>")
    turn = replace(turn, bot_keys=frozenset({ParticipantKey(ParticipantKind.CONSOLE_USER, "bot-id")}), bot_name="Mira")
    assert said_in(turn, 100, 1) == ["@ana and @someone ask @Mira in #channel"]


def test_a_long_conversation_is_read_from_its_end() -> None:
    history = tuple(said(f"{number} " + "x" * 7_990) for number in range(40))
    read = said_in(replace(a_turn("now"), history=history), 8_000, 100)
    assert [text.split()[0] for text in read] == ["now", *(str(number) for number in range(39, 27, -1))]


def a_thread(parent: str) -> Place:
    place = a_place()
    return replace(place, channel=Channel(2, ChannelRef("t", "t", parent_external_id=parent, parent_name=parent)))


def test_where_a_lorebook_applies() -> None:
    everywhere, here, for_one = a_book(), a_book(scope=Scope(None, ("general",))), a_book(scope=Scope(7))
    assert applies(everywhere, a_place(), 1)
    assert applies(here, a_place(), 1)
    assert not applies(here, a_place(channel="other"), 1)
    assert applies(here, a_thread("general"), 1)
    assert not applies(here, a_thread("other"), 1)
    assert applies(for_one, a_place(), 7)
    assert not applies(for_one, a_place(), 1)


def test_the_entries_of_a_place() -> None:
    books = (
        a_book(an_entry(1, "x")),
        a_book(an_entry(2, "x"), book_id=2, scope=Scope(7), token_budget=5),
        a_book(an_entry(3, "x"), book_id=3, scope=Scope(None, ("other",))),
    )
    shelf = make_shelf(books, Defaults())
    assert [ready.entry.uid for ready in shelf.admitted(a_place(), 1)] == [1]
    assert [ready.entry.uid for ready in shelf.admitted(a_place(channel="other"), 7)] == [1, 2, 3]
    assert shelf.budgets() == {2: 5}
    assert Shelf().admitted(a_place(), 1) == ()


class OneShelf:
    """The shelves, holding one."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    async def of(self, server_id: int) -> Shelf:
        return self._shelf


def a_context(shelf: Shelf) -> LoreContext:
    return LoreContext(cast("Shelves", OneShelf(shelf)), LorebookSettings(), message_limit=8_000)


async def test_the_items_of_a_turn() -> None:
    shelf = make_shelf([a_book(an_entry(1, "dragon", content="{{user}} slew it."))], Defaults())
    turn = replace(a_turn("and then?"), history=(said("the dragon"), said("dragons?", "invisible")))
    (item,) = await a_context(shelf).items(turn)
    assert [entry.line for entry in item.entries] == ["ana slew it."]
    assert item.entries[0].recency == turn.now
    far = replace(turn, history=(said("the dragon"), *(said("hm") for _ in range(4))))
    assert await a_context(shelf).items(far) == ()


@pytest.mark.unwatched_loop  # it measures for itself, and more strictly
async def test_thousands_of_entries_do_not_hold_up_the_loop() -> None:
    entries = [
        an_entry(n, f"name {n}", f"other{n}", f"/pattern{n}[abc]+/" if n < 300 else "third") for n in range(2_000)
    ]
    shelf = await asyncio.to_thread(make_shelf, [a_book(*entries)], Defaults())
    history = tuple(said(f"name {n} " + "and much more " * 500) for n in range(40))
    turn = replace(a_turn("third other5"), history=history)
    for _ in range(5):  # the watch over the loop that each test has fails it when the loop is held up
        assert await a_context(shelf).items(turn)
