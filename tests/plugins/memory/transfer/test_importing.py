"""Imports on a real database: all or nothing, through every guard, reported entry by entry."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.contracts.people import PrivacyLevel
from agent.places import Audience
from agent.privacy.audit import Act, Audit
from plugins.memory.content import Accepted, accept
from plugins.memory.transfer.entries import ImportRefused
from plugins.memory.transfer.importing import How
from plugins.memory.transfer.outcome import Became
from tests.plugins.memory.stage import Stage, author
from tests.plugins.memory.transfer.traffic import Traffic, became, file_of, plain
from tests.plugins.memory.world import DAY, NOW, World, about_person, about_server, save

ANA, BEN = author("Ana"), author("Ben")


async def contents(world: World, server_id: int) -> list[str]:
    rows = await world.rows(
        "SELECT content FROM server_memories WHERE server_id = $1 ORDER BY server_memory_id", server_id
    )
    return [row["content"] for row in rows]


async def test_what_is_imported_is_kept_as_of_no_channel_and_not_protected(
    traffic: Traffic, stage: Stage, world: World
) -> None:
    server, ana = await world.server(), await world.person()
    [account] = await world.rows("SELECT external_id FROM accounts WHERE account_id = $1", ana.account_id)
    about = {"platform": "console", "id": account["external_id"]}
    entry = {
        "content": "{user} likes tea",
        "about": about,
        "tags": ["drinks"],
        "created_at": "2026-01-01T00:00:00Z",
        "manually_written": True,
    }
    imported = await traffic.take(file_of(entry), server)
    assert (became(imported), imported.written) == ([Became.SAVED], True)
    [row] = await world.rows("SELECT * FROM server_memories")
    assert row["content"] == "{user} likes tea"
    assert (row["origin"], row["manually_written"], row["source_tool"]) == ("import", False, "import")
    assert (row["channel_disc_ids"], row["channel_scope_pending"], row["tags"]) == ([], False, ["drinks"])
    assert (row["subject_account_id"], row["subject_user_id"]) == (ana.account_id, ana.user_id)
    assert (row["created_at"].isoformat(), row["last_reinforced_at"]) == ("2026-01-01T00:00:00+00:00", NOW)
    assert row["audience"] == Audience.SERVER
    [event] = await world.rows("SELECT kind, memory_id FROM memory_events")
    assert event == {"kind": "created", "memory_id": row["server_memory_id"]}
    assert stage.announced.owners == [f"server:{server}"]
    assert stage.woken == [row["server_memory_id"]]


async def test_one_bad_entry_and_nothing_is_written(traffic: Traffic, world: World) -> None:
    server = await world.server()
    traffic.configure(max_memory_length=20)
    bad: list[dict[str, Any]] = [
        {"content": "x" * 21},
        {"content": "{nothing}"},
        {"content": "for whom", "lineage": "lineage-9"},
    ]
    file = file_of({"content": "good"}, *bad, lineages={"lineage-9": {"personas": ["Fern"]}})
    with pytest.raises(ImportRefused) as refused:
        await traffic.take(file, server)
    assert [line.partition(": ")[::2] for line in refused.value.lines] == [
        ("entry 2 (server_memories[1])", "content: at most 20 characters are expected, these are 21"),
        (
            "entry 3 (server_memories[2])",
            "content: nothing is left of it once what may not be kept is taken out",
        ),
        ("entry 4 (server_memories[3])", "persona: 'Fern' is none here; choose with persona one of "),
    ]
    assert await contents(world, server) == []
    assert await world.rows("SELECT FROM memory_events") == []


async def test_personas_are_found_by_name_or_said(traffic: Traffic, stage: Stage, world: World) -> None:
    place, _ = await stage.enter(ANA)
    server = place.server.server_id
    await world.rows("INSERT INTO persona_lineages (persona_lineage_id, created_at) VALUES (7, $1), (8, $1)", NOW)
    await world.rows(
        "INSERT INTO personas (server_id, persona_lineage_id, nickname, prompt, triggers, created_at) "
        "VALUES ($1, 7, 'Fern', '', '{}', $2), ($1, 8, 'Moss', '', '{}', $2)",
        server,
        NOW,
    )
    file = file_of(
        {"content": "as fern", "lineage": "lineage-3"},
        {"content": "as usual", "lineage": "default"},
        {"content": "not said"},
        lineages={"lineage-3": {"personas": ["FERN"]}},
    )
    await traffic.take(file, server)
    rows = await world.rows("SELECT content, persona_lineage_id AS lineage FROM server_memories ORDER BY 1")
    assert [tuple(row.values()) for row in rows] == [("as fern", 7), ("as usual", 1), ("not said", 1)]
    await traffic.take(file, server, persona="moss")
    moss = await world.rows("SELECT content FROM server_memories WHERE persona_lineage_id = 8")
    assert len(moss) == 3
    with pytest.raises(ImportRefused, match="there is none of that name; there are 'Isthmus', 'Fern', 'Moss'"):
        await traffic.take(file, server, persona="Bark")
    unknown = file_of({"content": "x", "lineage": "l"}, lineages={"l": {"personas": ["Bark"]}})
    with pytest.raises(ImportRefused, match="'Bark' is none here; choose with persona one of 'Isthmus', 'Fern'"):
        await traffic.take(unknown, server)


async def test_guards_leave_single_entries_out(traffic: Traffic, stage: Stage, world: World) -> None:
    place, _ = await stage.enter(ANA)
    await stage.enter(BEN)
    await stage.set_privacy(ANA, PrivacyLevel.PARTIAL)

    def about(name: str, content: str) -> dict[str, Any]:
        return {"content": content, "about": {"platform": "console", "id": f"console:{name}"}}

    file = file_of(about("ana", "of Ana"), about("ben", "of Ben"), about("cleo", "of Cleo"), {"content": "of all"})
    imported = await traffic.take(file, place.server.server_id)
    assert became(imported) == [Became.REFUSED, Became.SAVED, Became.REFUSED, Became.SAVED]
    assert imported.lines[0].text() == (
        "entry 1 (server_memories[0]) “of Ana”: left out: This person's privacy setting does not allow it."
    )
    assert "has not been seen here" in imported.lines[2].text()
    assert await contents(world, place.server.server_id) == ["of Ben", "of all"]


async def test_nothing_older_than_somebodys_wish_to_be_forgotten_comes_back(
    traffic: Traffic, stage: Stage, world: World
) -> None:
    place, account = await stage.enter(ANA)
    await world.rows("UPDATE accounts SET forgotten_before = $1", NOW - DAY)
    about = {"platform": "console", "id": "console:ana"}
    old = {"content": "old", "about": about, "created_at": (NOW - 2 * DAY).isoformat()}
    new = {"content": "new", "about": about, "created_at": (NOW - timedelta(hours=1)).isoformat()}
    file = file_of(old, new, {"content": "undated", "about": about})
    imported = await traffic.take(file, place.server.server_id, How(importer_account_id=account.account_id))
    assert became(imported) == [Became.REFUSED, Became.SAVED, Became.REFUSED]
    own = file_of(personal=({"content": "old of me", "created_at": old["created_at"]},))
    assert became(await traffic.take(own, user_id=account.user_id)) == [Became.REFUSED]
    [row] = await world.rows("SELECT content, author_account_id FROM server_memories")
    assert row == {"content": "new", "author_account_id": account.account_id}


async def test_a_replacement_that_does_not_fit_changes_nothing(traffic: Traffic, world: World, stage: Stage) -> None:
    server = await world.server()
    await save(stage.repository, stage.store, about_server(server, "old"))
    traffic.configure(max_server_memories=2)
    three = file_of(*({"content": f"new {number}"} for number in range(3)))
    imported = await traffic.take(three, server, How(replaces=True))
    assert (imported.written, became(imported)) == (False, [Became.SAVED, Became.SAVED, Became.FULL])
    assert await contents(world, server) == ["old"]
    assert stage.announced.owners == []
    merged = await traffic.take(three, server)
    assert became(merged) == [Became.SAVED, Became.FULL, Became.FULL]
    assert merged.lines[1].text().endswith("left out: every one of the 2 places is taken")
    assert await contents(world, server) == ["old", "new 0"]


async def test_a_replacement_removes_what_an_export_holds_and_can_be_undone(
    traffic: Traffic, world: World, stage: Stage
) -> None:
    server = await world.server()
    await save(stage.repository, stage.store, about_server(server, "old"))
    await save(stage.repository, stage.store, about_server(server, "secret", audience=Audience.CHANNEL))
    file = file_of({"content": "new"})
    tried = await traffic.take(file, server, How(replaces=True, tries=True))
    assert (tried.written, tried.removed, await contents(world, server)) == (False, 1, ["old", "secret"])
    imported = await traffic.take(file, server, How(replaces=True))
    assert (imported.written, imported.removed) == (True, 1)
    assert await contents(world, server) == ["secret", "new"]
    assert [row["memory"]["content"] for row in await world.rows("SELECT memory FROM forgotten_memories")] == ["old"]
    await traffic.take(file, server, How(replaces=True, narrow=True))
    assert await contents(world, server) == ["new"]


async def test_whom_a_replacement_took_something_from_can_see_it(traffic: Traffic, stage: Stage, world: World) -> None:
    place, ana = await stage.enter(ANA)
    _, ben = await stage.enter(BEN)
    server = place.server.server_id
    write = about_server(server, "of Ana", subject_account_id=ana.account_id, subject_user_id=ana.user_id)
    await save(stage.repository, stage.store, write)
    how = How(replaces=True, importer_account_id=ben.account_id, via="/memories import")
    await traffic.take(file_of({"content": "new"}), server, how)
    [seen] = await Audit(stage.store).about(ana.account_id)
    assert (seen.act, seen.via, seen.actor, seen.items) == (Act.DELETED, "/memories import", "Ben", 1)
    assert (await world.rows("SELECT revision FROM owner_revisions WHERE owner = $1", f"server:{server}")) != []


async def test_a_replacement_of_which_nothing_may_be_kept_removes_nothing(
    traffic: Traffic, world: World, stage: Stage
) -> None:
    server = await world.server()
    await save(stage.repository, stage.store, about_server(server, "old"))
    file = file_of({"content": "of Cleo", "about": {"platform": "console", "id": "console:cleo"}})
    imported = await traffic.take(file, server, How(replaces=True))
    assert (imported.written, became(imported)) == (False, [Became.REFUSED])
    assert await contents(world, server) == ["old"]


async def test_a_memory_of_some_channels_is_not_doubled(traffic: Traffic, world: World, stage: Stage) -> None:
    server = await world.server()
    write = about_server(server, "Game night is Friday.", channel_scope=("console:games",))
    added = await save(stage.repository, stage.store, write)
    imported = await traffic.take(await traffic.export(server_id=server), server)
    assert [(line.became, line.memory_id) for line in imported.lines] == [(Became.KNOWN, added.memory_id)]
    assert len(await contents(world, server)) == 1


async def test_old_memories_give_way_only_where_they_may(traffic: Traffic, world: World, stage: Stage) -> None:
    server = await world.server()
    stage.allow_eviction()
    traffic.configure(max_server_memories=2)
    old = await save(stage.repository, stage.store, about_server(server, "dormant"), now=NOW - 60 * DAY)
    file = file_of(*({"content": f"new {number}", "created_at": "2020-01-01"} for number in range(3)))
    imported = await traffic.take(file, server)
    assert became(imported) == [Became.SAVED, Became.EVICTED, Became.FULL]
    assert f"; for it {old.memory_id} was forgotten" in imported.lines[1].text()


async def test_whose_memories_a_file_may_hold(traffic: Traffic, stage: Stage, world: World) -> None:
    place, ana = await stage.enter(ANA)
    server = place.server.server_id
    other = {"content": "x", "person": {"platform": "console", "id": "console:ben", "name": "Ben"}}
    with pytest.raises(ImportRefused, match="the file holds 1 personal memories: each person imports their own"):
        await traffic.take(file_of(personal=(other,)), server)
    with pytest.raises(ImportRefused, match=r"a personal memory of Ben \(console:console:ben\), and the import is for"):
        await traffic.take(file_of(personal=(other,)), user_id=ana.user_id)
    with pytest.raises(ImportRefused, match="the file holds 1 server memories: those who manage a server"):
        await traffic.take(file_of({"content": "x"}), server, takes_server=False, user_id=ana.user_id)
    with pytest.raises(ImportRefused, match=r"memories of 2 users \('a', 'b'\): make one file of each user"):
        await traffic.take([{"memory": "x", "user_id": "a"}, {"memory": "y", "user_id": "b"}], user_id=ana.user_id)
    own = file_of(personal=({"content": "x", "lineage": "global", "audience": "person"},))
    assert became(await traffic.take(own, user_id=ana.user_id)) == [Became.SAVED]
    [row] = await world.rows("SELECT persona_lineage_id, audience, user_id, subject_user_id FROM personal_memories")
    assert tuple(row.values()) == (0, "person", ana.user_id, ana.user_id)


async def test_what_one_channel_may_read_needs_its_channel(traffic: Traffic, stage: Stage, world: World) -> None:
    server = await world.server()
    narrow = {"content": "x", "audience": "channel"}
    [line] = (await traffic.take(file_of(narrow), server)).lines
    assert (line.became, line.reason) == (
        Became.REFUSED,
        "it may be read in one channel only, and the file does not say in which",
    )
    await traffic.take(file_of(narrow), server, channel="console:here")
    await traffic.take(file_of({**narrow, "place": {"platform": "console", "channel": "console:there"}}), server)
    rows = await world.rows("SELECT source_channel_id, audience FROM server_memories ORDER BY 1")
    assert [tuple(row.values()) for row in rows] == [("console:here", "channel"), ("console:there", "channel")]


def kept(content: str, number: int) -> str:
    """What a save keeps of a text."""
    accepted = accept(content, 1000)
    return accepted.content if isinstance(accepted, Accepted) else str(number)


texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=40)
facts = st.lists(
    st.tuples(
        texts,
        st.sampled_from([Audience.SERVER, Audience.CHANNEL, Audience.OPEN]),
        st.booleans(),
        st.lists(st.sampled_from(["a", "b c"]), max_size=2, unique=True),
        st.integers(0, 400),
    ),
    max_size=8,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(server_facts=facts, own_facts=facts)
async def test_an_export_imported_elsewhere_is_the_same_and_adds_nothing_twice(
    traffic: Traffic, stage: Stage, world: World, server_facts: list[Any], own_facts: list[Any]
) -> None:
    first, second, ana = await world.server(), await world.server(), await world.person()
    for number, (content, audience, about, tags, age) in enumerate(server_facts):
        write = about_server(first, kept(content, number), audience=audience, tags=tuple(tags))
        if about:
            write = replace(write, subject_account_id=ana.account_id, subject_user_id=ana.user_id)
        await save(stage.repository, stage.store, write, now=NOW - age * DAY)
    for number, (content, audience, is_global, tags, age) in enumerate(own_facts):
        write = about_person(ana.user_id, kept(content, number), lineage=0 if is_global else 1, tags=tuple(tags))
        write = write if audience is Audience.SERVER else replace(write, audience=audience)
        await save(stage.repository, stage.store, write, now=NOW - age * DAY)
    exported = await traffic.export(server_id=first, user_id=ana.user_id, narrow=True)
    await world.rows("DELETE FROM personal_memories")
    if not plain(exported):
        return
    imported = await traffic.take(exported, second, user_id=ana.user_id)
    assert set(became(imported)) <= {Became.SAVED, Became.KNOWN}
    again = await traffic.export(server_id=second, user_id=ana.user_id, narrow=True)
    assert plain(again) == plain(exported)
    twice = await traffic.take(exported, second, user_id=ana.user_id)
    assert set(became(twice)) == {Became.KNOWN}
    once_more = await traffic.export(server_id=second, user_id=ana.user_id, narrow=True)
    assert plain(once_more) == plain(exported)
