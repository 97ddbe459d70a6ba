import pytest

from agent.contracts.memory import MemoryScope
from agent.places import Audience
from agent.store.pool import Store
from plugins.memory.repository import Actor, Edit, MemoryRepository, Outcome, Room
from plugins.memory.search import MemorySearch
from tests.plugins.memory.world import DAY, NOW, World, about_person, about_server, save, source

NOBODY = Actor(None, None, None)


async def test_a_saved_memory_can_be_read_with_everything_that_was_given(
    repository: MemoryRepository, store: Store, world: World
) -> None:
    server, author = await world.server(), await world.person()
    write = about_server(
        server,
        "game night\nis Friday",
        audience=Audience.CHANNEL,
        channel_scope=("c1", "c2"),
        tags=("fun",),
        subject_account_id=author.account_id,
        subject_user_id=author.user_id,
        source=source(server_id=server, author_account_id=author.account_id),
    )
    added = await save(repository, store, write)
    assert added.outcome is Outcome.SAVED
    assert added.memory_id is not None
    memory = await repository.read(MemoryScope.SERVER, added.memory_id, server, 1)
    assert memory is not None
    assert memory.content == "game night is Friday"
    assert (memory.audience, memory.channel_ids, memory.scope_pending) == (Audience.CHANNEL, ("c1", "c2"), False)
    assert (memory.subject_account_id, memory.subject_user_id) == (author.account_id, author.user_id)
    assert (memory.source_platform, memory.source_server_id) == ("console", server)
    assert (memory.created_at, memory.last_reinforced_at, memory.version) == (NOW, None, 1)
    [row] = await world.rows("SELECT * FROM server_memories")
    assert row["content"] == "game night\nis Friday"
    assert (row["tags"], row["origin"], row["manually_written"]) == (["fun"], "model", False)
    assert (row["source_message_id"], row["source_turn_id"]) == ("m1", "t1")
    assert (row["source_channel_id"], row["source_tool"]) == ("console:general", "create_long_term_memory")
    assert row["author_account_id"] == author.account_id
    assert row["legacy_channel_scope_tags"] == []


async def test_both_kinds_draw_their_ids_from_one_sequence_and_none_is_used_twice(
    repository: MemoryRepository, store: Store, world: World
) -> None:
    server, person = await world.server(), await world.person()
    first = await save(repository, store, about_server(server, "one"))
    second = await save(repository, store, about_person(person.user_id, "two"))
    assert second.memory_id == (first.memory_id or 0) + 1
    memory = await repository.read(MemoryScope.PERSONAL, second.memory_id, person.user_id, 1)
    assert memory is not None
    async with store.transaction() as conn:
        assert await repository.remove(conn, memory, NOBODY, NOW) == "two"
    third = await save(repository, store, about_server(server, "three"))
    assert third.memory_id == second.memory_id + 1


async def test_event_and_revision_come_with_each_change(
    repository: MemoryRepository, store: Store, world: World
) -> None:
    server, author = await world.server(), await world.person()
    write = about_server(server, "one", source=source(server_id=server, author_account_id=author.account_id))
    added = await save(repository, store, write)
    assert added.memory_id is not None
    await save(repository, store, write, now=NOW + DAY)
    memory = await repository.read(MemoryScope.SERVER, added.memory_id, server, 1)
    assert memory is not None
    assert memory.last_reinforced_at == NOW + DAY
    async with store.transaction() as conn:
        edit = Edit("two", 1, None, None)
        assert await repository.edit(conn, memory, edit, Actor(author.account_id, "t2", "tool"), NOW + DAY) == 2
    async with store.transaction() as conn:
        assert await repository.remove(conn, memory, Actor(author.account_id, "t3", "tool"), NOW + 2 * DAY) == "two"
    events = await world.rows("SELECT * FROM memory_events ORDER BY memory_event_id")
    assert [event["kind"] for event in events] == ["created", "reinforced", "updated", "deleted"]
    assert [event["happened_at"] for event in events] == [NOW, NOW + DAY, NOW + DAY, NOW + 2 * DAY]
    assert {event["actor_account_id"] for event in events} == {author.account_id}
    assert [event["source_turn_id"] for event in events] == ["t1", "t1", "t2", "t3"]
    assert {(event["memory_id"], event["scope"], event["owner_id"]) for event in events} == {
        (added.memory_id, "server", server)
    }
    assert await world.rows("SELECT * FROM owner_revisions") == [{"owner": f"server:{server}", "revision": 4}]
    [copy] = await world.rows("SELECT * FROM forgotten_memories")
    assert (copy["memory_id"], copy["reason"], copy["memory"]["content"]) == (added.memory_id, "deleted", "two")


async def test_what_is_at_another_version_or_gone_is_not_changed(
    repository: MemoryRepository, store: Store, world: World
) -> None:
    person = await world.person()
    added = await save(repository, store, about_person(person.user_id, "one"))
    assert added.memory_id is not None
    memory = await repository.read(MemoryScope.PERSONAL, added.memory_id, person.user_id, 1)
    assert memory is not None
    async with store.transaction() as conn:
        assert await repository.edit(conn, memory, Edit("two", 2, None, None), NOBODY, NOW) is None
        assert await repository.remove(conn, memory, NOBODY, NOW) == "one"
        assert await repository.remove(conn, memory, NOBODY, NOW) is None
        assert await repository.edit(conn, memory, Edit("two", 1, None, None), NOBODY, NOW) is None
    kinds = await world.rows("SELECT kind FROM memory_events ORDER BY memory_event_id")
    assert [event["kind"] for event in kinds] == ["created", "deleted"]
    assert (await world.rows("SELECT revision FROM owner_revisions"))[0]["revision"] == 2


async def test_a_near_duplicate_is_one_row_within_owner_lineage_audience_scope_and_subject(
    repository: MemoryRepository, store: Store, world: World
) -> None:
    server, other, ana, ben = await world.server(), await world.server(), await world.person(), await world.person()
    first = await save(repository, store, about_server(server, "Game night is Friday."))
    again = await save(repository, store, about_server(server, "game  night is \N{RIGHT DOUBLE QUOTATION MARK}friday"))
    assert (again.outcome, again.memory_id) == (Outcome.KNOWN, first.memory_id)
    kept = [
        about_server(other, "game night is friday"),
        about_server(server, "game night is friday", lineage=2),
        about_server(server, "game night is friday", audience=Audience.CHANNEL),
        about_server(
            server,
            "game night is friday",
            audience=Audience.CHANNEL,
            source=source(server_id=server, channel_external_id="console:other"),
        ),
        about_server(server, "game night is friday", channel_scope=("c1",)),
        about_server(server, "game night is friday", subject_account_id=ana.account_id, subject_user_id=ana.user_id),
        about_server(server, "game night is friday", subject_account_id=ben.account_id, subject_user_id=ben.user_id),
        about_person(ana.user_id, "game night is friday"),
        about_person(ben.user_id, "game night is friday"),
        about_person(ana.user_id, "game night is friday", lineage=0),
        about_person(ana.user_id, "game night is friday", audience=Audience.PERSON),
    ]
    results = [await save(repository, store, write) for write in kept]
    assert [result.outcome for result in results] == [Outcome.SAVED] * len(kept)
    results = [await save(repository, store, write) for write in kept]
    assert [result.outcome for result in results] == [Outcome.KNOWN] * len(kept)


async def test_an_account_linked_later_is_the_same_subject(
    repository: MemoryRepository, store: Store, world: World
) -> None:
    server, ana = await world.server(), await world.person()
    linked = await world.account(ana.user_id)
    first = about_server(server, "likes tea", subject_account_id=ana.account_id, subject_user_id=ana.user_id)
    second = about_server(server, "likes tea", subject_account_id=linked, subject_user_id=ana.user_id)
    assert (await save(repository, store, first)).outcome is Outcome.SAVED
    assert (await save(repository, store, second)).outcome is Outcome.KNOWN


async def test_a_manual_add_protects_the_near_duplicate_that_it_meets(
    repository: MemoryRepository, store: Store, world: World
) -> None:
    server = await world.server()
    await save(repository, store, about_server(server, "one"))
    await save(repository, store, about_server(server, "one", manually_written=True))
    await save(repository, store, about_server(server, "one"))
    assert [row["manually_written"] for row in await world.rows("SELECT * FROM server_memories")] == [True]


async def test_at_the_cap_nothing_changes(repository: MemoryRepository, store: Store, world: World) -> None:
    server = await world.server()
    room = Room(cap=2, may_evict=False, decay_days=30)
    for content in ("one", "two"):
        await save(repository, store, about_server(server, content), room)
    before = await world.rows("SELECT * FROM server_memories"), await world.rows("SELECT * FROM memory_events")
    refused = await save(repository, store, about_server(server, "three"), room, NOW + 90 * DAY)
    assert (refused.outcome, refused.memory_id) == (Outcome.FULL, None)
    assert before == (
        await world.rows("SELECT * FROM server_memories"),
        await world.rows("SELECT * FROM memory_events"),
    )
    assert (await world.rows("SELECT revision FROM owner_revisions"))[0]["revision"] == 2
    assert (await save(repository, store, about_server(server, "three", lineage=2), room)).outcome is Outcome.SAVED
    assert (await save(repository, store, about_server(server, "ONE"), room)).outcome is Outcome.KNOWN


async def test_global_rows_count_in_every_lineage(repository: MemoryRepository, store: Store, world: World) -> None:
    user = (await world.person()).user_id
    room = Room(cap=3, may_evict=True, decay_days=30)
    late = NOW + 90 * DAY
    for lineage, content in ((0, "global"), (1, "a"), (1, "b"), (2, "c")):
        assert (await save(repository, store, about_person(user, content, lineage=lineage), room)).outcome == "saved"
    assert (await save(repository, store, about_person(user, "d", lineage=2), room)).outcome is Outcome.SAVED
    full = Room(cap=3, may_evict=False, decay_days=30)
    assert (await save(repository, store, about_person(user, "e", lineage=1), full)).outcome is Outcome.FULL
    # A further global row would not fit into lineages 1 and 2, and no global row ever goes for another.
    assert (await save(repository, store, about_person(user, "f", lineage=0), room, late)).outcome is Outcome.FULL


@pytest.mark.parametrize("scope", ["server", "personal"])
async def test_the_row_that_goes_is_dormant_unprotected_and_the_least_recently_reinforced(
    scope: str, repository: MemoryRepository, store: Store, world: World
) -> None:
    owner = await world.server() if scope == "server" else (await world.person()).user_id
    make = about_server if scope == "server" else about_person
    ids: dict[str, int] = {}
    for day, content in enumerate(["protected", "older", "old", "reinforced early", "reinforced late", "awake"]):
        write = make(owner, content, manually_written=content == "protected")
        added = await save(repository, store, write, now=NOW + day * DAY)
        assert added.memory_id is not None
        ids[content] = added.memory_id
    await save(repository, store, make(owner, "reinforced late"), now=NOW + 8 * DAY)
    await save(repository, store, make(owner, "reinforced early"), now=NOW + 7 * DAY)
    other = make(owner, "another lineage", lineage=2)
    await save(repository, store, other, now=NOW - 100 * DAY)
    await save(repository, store, make(owner, "awake"), now=NOW + 30 * DAY)
    room = Room(cap=6, may_evict=True, decay_days=30)
    went = []
    for number in range(5):
        late = NOW + 38 * DAY + number * DAY / 100 + DAY / 200
        added = await save(repository, store, make(owner, f"new {number}"), room, late)
        went.append((added.outcome, added.forgotten_content, added.forgotten_id))
    assert went == [
        *((Outcome.EVICTED, name, ids[name]) for name in ("older", "old", "reinforced early", "reinforced late")),
        (Outcome.FULL, None, None),
    ]
    key = "server_memory_id" if scope == "server" else "personal_memory_id"
    rows = await world.rows(f"SELECT content FROM {scope}_memories ORDER BY {key}")  # noqa: S608  # names of tables of ours
    left = [row["content"] for row in rows]
    assert left == ["protected", "awake", "another lineage", "new 0", "new 1", "new 2", "new 3"]
    copies = await world.rows("SELECT memory_id, reason, memory FROM forgotten_memories ORDER BY memory_id")
    assert [(copy["memory_id"], copy["reason"]) for copy in copies] == [
        (ids[name], "evicted") for name in ("older", "old", "reinforced early", "reinforced late")
    ]


async def test_a_lowered_cap_evicts_one_row_a_save_and_deletes_nothing_in_bulk(
    repository: MemoryRepository, store: Store, world: World
) -> None:
    server = await world.server()
    for number in range(5):
        await save(repository, store, about_server(server, f"old {number}"))
    room = Room(cap=2, may_evict=True, decay_days=30)
    added = await save(repository, store, about_server(server, "new"), room, NOW + 40 * DAY)
    assert (added.outcome, added.forgotten_content) == (Outcome.EVICTED, "old 0")
    assert len(await world.rows("SELECT FROM server_memories")) == 5


async def test_the_block_holds_the_lineage_and_global_rows_oldest_first(
    repository: MemoryRepository, store: Store, world: World
) -> None:
    server, other, ana, ben = await world.server(), await world.server(), await world.person(), await world.person()
    writes = [
        about_person(ana.user_id, "ana"),
        about_server(server, "server"),
        about_server(server, "foreign lineage", lineage=2),
        about_server(other, "foreign server"),
        about_person(ana.user_id, "ana globally", lineage=0),
        about_person(ana.user_id, "ana elsewhere", lineage=2),
        about_person(ben.user_id, "ben"),
    ]
    for write in writes:
        await save(repository, store, write)
    block = await repository.block(server, [ana.user_id], 1)
    assert [memory.content for memory in block] == ["ana", "server", "ana globally"]
    assert [memory.owner_id for memory in block] == [ana.user_id, server, ana.user_id]
    assert [memory.content for memory in await repository.block(None, [ben.user_id], 1)] == ["ben"]


async def test_the_standing_of_people_holds_linked_accounts_and_the_blacklist(
    repository: MemoryRepository, world: World
) -> None:
    server, other = await world.server(), await world.server()
    free, hidden = await world.person("Free"), await world.person("Hidden", privacy="partial")
    linked, listed = await world.account(hidden.user_id, "Linked"), await world.person("Listed")
    async with world.store.connection() as conn:
        await conn.execute("INSERT INTO server_blacklist VALUES ($1, $2, $3)", server, listed.account_id, NOW)
    standing = await repository.standing([free.account_id, linked, 404], [listed.user_id], server)
    assert {(person.account_id, person.privacy.value, person.blacklisted) for person in standing.people} == {
        (free.account_id, "none", False),
        (linked, "none", False),
        (hidden.account_id, "partial", False),
        (listed.account_id, "none", True),
    }
    assert standing.names[linked] == "Linked"
    assert [one.blacklisted for one in (await repository.standing([listed.account_id], [], other)).people] == [False]


async def test_a_person_is_untold_until_one_of_their_accounts_was_told(
    repository: MemoryRepository, store: Store, world: World
) -> None:
    server, ana = await world.server(), await world.person(told=False)
    linked = await world.account(ana.user_id, told=False)
    write = about_server(server, "likes tea", subject_account_id=ana.account_id, subject_user_id=ana.user_id)
    assert (await save(repository, store, write)).untold
    assert not (await save(repository, store, about_server(server, "something else"))).untold
    async with store.transaction() as conn:
        await repository.lock_to_tell(conn, write)
        await repository.set_told(conn, linked, NOW)
    assert not (await save(repository, store, write)).untold


async def test_embeddings_follow_their_memories_and_nothing_needs_them(
    repository: MemoryRepository, store: Store, world: World
) -> None:
    assert await MemorySearch(store).has_embeddings()
    server, ana = await world.server(), await world.person()
    first = await save(repository, store, about_server(server, "one"))
    second = await save(repository, store, about_person(ana.user_id, "two"))
    async with store.connection() as conn:
        for added in (first, second):
            await conn.execute("INSERT INTO memory_embeddings VALUES ($1, 'm', '[1,2,3]')", added.memory_id)
        await conn.execute("DELETE FROM server_memories")
        assert await conn.fetchval("SELECT array_agg(memory_id) FROM memory_embeddings") == [second.memory_id]
        await conn.execute("DELETE FROM personal_memories")
        assert await conn.fetchval("SELECT count(*) FROM memory_embeddings") == 0
        await conn.execute("DROP TABLE memory_embeddings CASCADE")
    assert (await save(repository, store, about_server(server, "one"))).outcome is Outcome.SAVED
    async with store.connection() as conn:
        await conn.execute("UPDATE server_memories SET content = 'two'")
        await conn.execute("DELETE FROM server_memories")
