"""The library on a real database: what is kept, what happens at once, what is true in the next turn."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from agent.app import Agent
from agent.store.pool import Store
from plugins.lorebook.book import Book, Entry, Logic, Scope
from plugins.lorebook.editing import LoreRefused
from plugins.lorebook.library import BookRefused
from plugins.lorebook.repository import LoreRepository
from tests.plugins.lorebook.files import st_book, st_entry
from tests.plugins.lorebook.talk import Talk
from tests.plugins.memory.world import NOW, World

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts

FULL = Entry(
    content="Two\nlines, 'quotes', {\"braces\"} and 龍",
    keys=("dragon", "/dra(g,on)s?/i", 'a "key"', "back\\slash", "{brace}"),
    secondary_keys=("red", "NULL", ""),
    logic=Logic.NOT_ALL,
    selective=False,
    constant=True,
    enabled=False,
    order=-7,
    scan_depth=0,
    whole_words=False,
    case_sensitive=True,
    probability=33,
    exclude_recursion=True,
    prevent_recursion=True,
    delay_until_recursion=True,
    name="The “dragon”",
    uid=12,
    extra={"position": 4, "extensions": {"a": [1, None, {"b": 2.5}]}},
)


async def test_every_field_is_kept(store: Store) -> None:
    server_id = await World(store).server()
    repository = LoreRepository(store)
    book = Book(
        name="Realm",
        entries=(Entry(content="plain", uid=3), FULL),
        description="d",
        enabled=False,
        scope=Scope(5, ("c1", "c2")),
        scan_depth=2,
        token_budget=0,
        recursive=False,
        extra={"shelf": "top"},
    )
    async with store.transaction() as conn:
        await repository.lock(conn, server_id)
        book_id = await repository.add_book(conn, server_id, book, NOW)
    kept = await repository.find(server_id, name="REALM")
    assert kept is not None
    ids = [entry.entry_id for entry in kept.entries]
    assert ids == sorted(ids)
    entries = tuple(replace(entry, entry_id=number) for entry, number in zip(book.entries, ids, strict=True))
    assert kept == replace(book, book_id=book_id, entries=entries)
    async with store.transaction() as conn:
        totals = await repository.lock(conn, server_id)
        changed = replace(
            kept.entries[0], **{name: getattr(FULL, name) for name in FULL.__slots__ if name[-3:] != "uid"}
        )
        changed = replace(changed, entry_id=kept.entries[0].entry_id)
        await repository.save_entry(conn, book_id, changed, NOW)
    assert (totals.books, totals.entries, totals.patterns) == (1, 2, 1)
    assert totals.characters == kept.characters
    again = await repository.find(server_id, entry_id=changed.entry_id)
    assert again is not None
    assert again.entries[0] == changed
    assert await repository.in_use(server_id) == ()
    assert await repository.find(server_id + 1, name="Realm") is None
    assert await repository.find(server_id + 1, entry_id=ids[0]) is None


async def test_an_empty_server_has_nothing(store: Store) -> None:
    server_id = await World(store).server()
    repository = LoreRepository(store)
    async with store.transaction() as conn:
        totals = await repository.lock(conn, server_id)
    assert (totals.books, totals.entries, totals.characters, totals.patterns) == (0, 0, 0, 0)
    assert await repository.revision(server_id) == 0


async def test_additions_at_once_do_not_go_beyond_the_limit(talk: Talk) -> None:
    server_id = await talk.server_id()

    async def add(number: int) -> bool:
        try:
            await talk.library.add(server_id, "lore", f"k{number}", "x")
        except LoreRefused:
            return False
        return True

    added = await asyncio.gather(*(add(number) for number in range(40)))
    assert sum(added) == 30
    book = await talk.library.book(server_id, "lore")
    assert [entry.uid for entry in book.entries] == list(range(30))


async def test_two_imports_at_once_make_one_lorebook(talk: Talk) -> None:
    server_id = await talk.server_id()

    async def take(number: int) -> bool:
        try:
            await talk.library.import_file(server_id, st_book(st_entry(number)), "realm.json")
        except LoreRefused:
            return False
        return True

    assert sorted(await asyncio.gather(*(take(number) for number in range(5)))) == [False] * 4 + [True]
    assert [listed.book.name for listed in await talk.library.books(server_id)] == ["realm"]


async def test_a_turn_sees_what_was_committed_before_it(talk: Talk, agent: Agent) -> None:
    server_id = await talk.server_id()
    found = await talk.library.add(server_id, "lore", "dragon", "It sleeps.")
    assert await talk.lines("dragon") == ["It sleeps."]
    # Another process changes it, and its notification is lost.
    async with agent.core.store.transaction() as conn:
        repository = LoreRepository(agent.core.store)
        await repository.lock(conn, server_id)
        changed = replace(found.entry, content="It wakes.")
        await repository.save_entry(conn, found.book.book_id, changed, NOW)
        await repository.note_change(conn, server_id)
    assert await talk.lines("dragon") == ["It wakes."]


async def test_what_was_refused_left_nothing_behind(talk: Talk, agent: Agent) -> None:
    server_id = await talk.server_id()
    await talk.library.add(server_id, "lore", "dragon", "It sleeps.")
    repository = LoreRepository(agent.core.store)
    revision = await repository.revision(server_id)
    with pytest.raises(BookRefused) as refused:
        await talk.library.import_file(server_id, st_book(st_entry(0), st_entry(1, key=7)), "lore.json", replacing=True)
    assert len(refused.value.lines) == 1
    with pytest.raises(LoreRefused):
        await talk.library.import_file(
            server_id, st_book(*(st_entry(n, content="x" * 11_000) for n in range(3))), "lore.json", replacing=True
        )
    with pytest.raises(LoreRefused):
        await talk.library.change_entry(server_id, 404, "order", "1")
    assert await repository.revision(server_id) == revision
    assert await talk.lines("dragon") == ["It sleeps."]


async def test_a_long_report_is_cut(talk: Talk) -> None:
    server_id = await talk.server_id()
    entries = [st_entry(n, key=7, order="x") for n in range(30)]
    with pytest.raises(BookRefused) as refused:
        await talk.library.import_file(server_id, st_book(*entries), "lore.json")
    assert len(refused.value.lines) == 41
    assert refused.value.lines[-1] == "… and 20 more"


async def test_a_server_that_goes_takes_its_lorebooks_along(talk: Talk, agent: Agent) -> None:
    server_id = await talk.server_id()
    await talk.library.add(server_id, "lore", "dragon", "It sleeps.")
    async with agent.core.store.transaction() as conn:
        await conn.execute("DELETE FROM servers WHERE server_id = $1", server_id)
    assert await LoreRepository(agent.core.store).counts() == (0, 0)


async def test_names_that_the_database_would_refuse(talk: Talk) -> None:
    server_id = await talk.server_id()
    found = await talk.library.add(server_id, "a\0b\nc", "k", "x\0y")
    assert (found.book.name, found.entry.content) == ("ab c", "xy")
    assert (await talk.library.book(server_id, "A\0B C")).name == "ab c"
    assert (await talk.library.add(server_id, "\0", "k", "x")).book.name == "lore"
    with pytest.raises(LoreRefused, match="no lorebook"):
        await talk.library.book(server_id, "\0")


async def test_what_a_lineage_leaves_behind(talk: Talk, agent: Agent) -> None:
    server_id = await talk.server_id()
    for name in ("a", "b", "c"):
        await talk.library.add(server_id, name, "k", "x")
    await talk.library.change_book(server_id, "a", "persona", "isthmus", here="")
    counted = await agent.plugins.collect("count_lineage", server_id=server_id, lineage_id=1)
    assert counted == [{"lorebooks": 1}]


async def test_the_health_of_the_plugin(talk: Talk, agent: Agent) -> None:
    await talk.library.add(await talk.server_id(), "lore", "k", "x")
    (lines,) = await agent.plugins.collect("health")
    assert [(line.name, line.state, line.text) for line in lines] == [("lorebook", "ok", "1 lorebooks, 1 entries")]


async def test_without_a_database_the_turn_goes_on(talk: Talk, agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    await talk.library.add(await talk.server_id(), "lore", "-", "x")

    async def lost(self: LoreRepository, server_id: int) -> int:
        raise OSError("gone")

    monkeypatch.setattr(LoreRepository, "revision", lost)
    assert await talk.lines("hello") == []
