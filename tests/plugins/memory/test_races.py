"""Many writers at once, in several processes, on a real database (memory.md, Concurrency promises)."""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from agent.contracts.people import PrivacyLevel
from agent.privacy.repository import Privacy
from agent.store.pool import ExternalServer, Store
from plugins.memory.content import content_key
from plugins.memory.repository import Actor, MemoryRepository, Room
from plugins.memory.status import Status
from tests.plugins.memory import processes
from tests.plugins.memory.race_worker import Job, one, writing_for
from tests.plugins.memory.world import DAY, NOW, World, about_person, about_server, save

PROCESSES = 4
NOBODY = Actor(None, None, None)

pytestmark = pytest.mark.unwatched_loop  # hundreds of tasks start at once


async def race(jobs: Sequence[Job]) -> list[dict[str, Any]]:
    """Run each job in a process of its own, all at the same moment; return every result."""
    return [result for results in await processes.race("race_worker", jobs) for result in results]


def split(job: Job, contents: Sequence[str]) -> list[Job]:
    return [replace(job, contents=list(contents[number::PROCESSES])) for number in range(PROCESSES)]


async def consistent(world: World, table: str) -> None:
    """Each row has its creation, and each creation that was not removed its row."""
    key = table.removesuffix("ies") + "y_id"
    rows = {row[key] for row in await world.rows(f"SELECT {key} FROM {table}")}  # noqa: S608  # tables of ours
    events = await world.rows("SELECT memory_id, kind FROM memory_events")
    created = [event["memory_id"] for event in events if event["kind"] == "created"]
    removed = [event["memory_id"] for event in events if event["kind"] in {"evicted", "deleted"}]
    assert len(created) == len(set(created))
    assert len(removed) == len(set(removed))
    assert set(created) - set(removed) == rows
    [revision] = await world.rows("SELECT revision FROM owner_revisions")
    assert revision["revision"] == len([event for event in events if event["kind"] != "evicted"])


@pytest.mark.parametrize("scope", ["server", "personal"])
async def test_200_saves_from_4_processes_into_5_free_places(
    scope: str, repository: MemoryRepository, store: Store, world: World, database_url: str
) -> None:
    ana = await world.person()
    owner = await world.server() if scope == "server" else ana.user_id
    for number in range(10):
        lineage = 0 if scope == "personal" and number < 5 else 1
        make = about_server if scope == "server" else about_person
        await save(repository, store, make(owner, f"old {number}", lineage=lineage))
    subject = None if scope == "server" else ana.account_id
    job = Job(database_url, scope, owner, subject, [], cap=15)
    results = await race(split(job, [f"new {number}" for number in range(200)]))
    assert Counter(result["status"] for result in results) == {Status.SAVED: 5, Status.SAVE_LIMIT_EXCEEDED: 195}
    table = f"{scope}_memories"
    key = f"{scope}_memory_id"
    ids = [row[key] for row in await world.rows(f"SELECT {key} FROM {table} WHERE content LIKE 'new%'")]  # noqa: S608
    assert sorted(ids) == sorted(result["memory_id"] for result in results if "memory_id" in result)
    await consistent(world, table)


async def test_evictions_from_4_processes_take_each_victim_once(
    repository: MemoryRepository, store: Store, world: World, database_url: str
) -> None:
    server = await world.server()
    for number in range(15):
        # Protected, dormant and fresh ones: only the five in the middle may go.
        now = NOW - 4000 * DAY if number < 10 else NOW + 4000 * DAY
        write = about_server(server, f"old {number}", manually_written=number < 5)
        await save(repository, store, write, now=now)
    job = Job(database_url, "server", server, None, [], cap=15, can_recall=True)
    results = await race(split(job, [f"new {number}" for number in range(40)]))
    assert Counter(result["status"] for result in results) == {
        Status.SAVED_WITH_EVICTION: 5,
        Status.SAVE_LIMIT_EXCEEDED: 35,
    }
    forgotten = sorted(result["content_forgotten"] for result in results if "content_forgotten" in result)
    assert forgotten == [f"old {number}" for number in range(5, 10)]
    assert len(await world.rows("SELECT FROM server_memories")) == 15
    await consistent(world, "server_memories")


async def test_20_identical_saves_at_once_are_one_row(world: World, database_url: str) -> None:
    server = await world.server()
    results = await race(split(Job(database_url, "server", server, None, [], cap=100), ["Game night is Friday."] * 20))
    assert Counter(result["status"] for result in results) == {Status.SAVED: 1, Status.ALREADY_KNOWN: 19}
    assert len({result["memory_id"] for result in results}) == 1
    await consistent(world, "server_memories")


async def test_a_person_is_told_once_whoever_writes_first(world: World, database_url: str) -> None:
    """Saves of both kinds about one person need stronger locks for it, and wait for each other in one order."""
    server, ana = await world.server(), await world.person(told=False)
    jobs = [
        Job(database_url, scope, owner, ana.account_id, [f"{scope} {number} {each}" for each in range(10)], cap=100)
        for number in range(2)
        for scope, owner in (("server", server), ("personal", ana.user_id))
    ]
    results = await race(jobs)
    assert Counter(result["status"] for result in results) == {Status.SAVED: 40}
    assert len(await world.rows("SELECT FROM accounts WHERE disclosed_at IS NOT NULL")) == 1


async def test_64_writers_on_a_pool_of_10_leave_room_for_others(world: World, database_url: str) -> None:
    server, other = await world.server(), await world.server()
    async with Store(ExternalServer(database_url), size=10) as store:
        writing = writing_for(store, 100)
        hot = Job(database_url, "server", server, None, [], cap=100)
        saves = asyncio.gather(*(one(writing, hot, f"hot {number}") for number in range(64)))
        calm = asyncio.gather(*(one(writing, replace(hot, owner=other), f"calm {number}") for number in range(8)))
        done, _ = await asyncio.wait({saves, calm}, timeout=20)
        assert done == {saves, calm}
        statuses = Counter(str(result.status) for result in [*saves.result(), *calm.result()])
    assert statuses == {Status.SAVED: 72}


async def test_no_save_after_a_level_is_confirmed(world: World, store: Store, database_url: str) -> None:
    server, ana = await world.server(), await world.person()
    hidden = asyncio.Event()

    async def saver(scope: str, owner: int) -> list[str]:
        statuses: list[str] = []
        async with Store(ExternalServer(database_url), size=4) as own:
            job = Job(database_url, scope, owner, ana.account_id, [], cap=1000)
            while len(statuses) < 500 and not (hidden.is_set() and statuses[-1:] == [Status.SAVE_PRIVACY_RESTRICTED]):
                result = await one(writing_for(own, 1000), job, f"{scope} {len(statuses)}")
                statuses.append(result.status)
        return statuses

    async def hide() -> tuple[int, int]:
        await asyncio.sleep(0.3)
        await Privacy(store).set_level(ana.account_id, PrivacyLevel.PARTIAL)
        counted = await rows()
        hidden.set()
        return counted

    async def rows() -> tuple[int, int]:
        [counts] = await world.rows(
            "SELECT (SELECT count(*) FROM server_memories) AS s, (SELECT count(*) FROM personal_memories) AS p"
        )
        return counts["s"], counts["p"]

    async with asyncio.timeout(30):
        confirmed, server_saves, personal_saves = await asyncio.gather(
            hide(), saver("server", server), saver("personal", ana.user_id)
        )
    assert server_saves[0] == personal_saves[0] == Status.SAVED
    assert server_saves[-1] == personal_saves[-1] == Status.SAVE_PRIVACY_RESTRICTED
    assert await rows() == confirmed


async def confirmed_before_kill(job: Job, patience: float) -> list[dict[str, Any]]:
    """Have a process save one memory after the other, kill it, and return the results that it could still say."""
    process = await processes.start("race_worker", replace(job, endless=True))
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(b"go\n")
        await process.stdin.drain()
        first = await process.stdout.readline()
        await asyncio.sleep(patience)
    finally:
        process.kill()
        said, _ = await process.communicate()
    return [json.loads(line) for line in [first, *said.splitlines(keepends=True)] if line.endswith(b"\n")]


async def test_a_save_that_is_killed_is_there_with_its_event_or_not_at_all(world: World, database_url: str) -> None:
    server = await world.server()
    confirmed = 0
    for number in range(8):
        job = Job(database_url, "server", server, None, [f"round {number}"], cap=10_000)
        results = await confirmed_before_kill(job, 0.002 * number)
        confirmed += len(results)
        for result in results:
            found = await world.rows("SELECT FROM server_memories WHERE server_memory_id = $1", result["memory_id"])
            assert len(found) == 1
    rows = len(await world.rows("SELECT FROM server_memories"))
    assert confirmed <= rows <= confirmed + 8
    await consistent(world, "server_memories")


async def test_an_eviction_that_is_killed_took_both_steps_or_none(
    repository: MemoryRepository, store: Store, world: World, database_url: str
) -> None:
    server = await world.server()
    room = Room(cap=300, may_evict=False, decay_days=30)
    for number in range(300):
        await save(repository, store, about_server(server, f"old {number}"), room, NOW - 4000 * DAY)
    for number in range(8):
        job = Job(database_url, "server", server, None, [f"round {number}"], cap=300, can_recall=True)
        results = await confirmed_before_kill(job, 0.002 * number)
        assert results[0]["status"] == Status.SAVED_WITH_EVICTION
        assert len(await world.rows("SELECT FROM server_memories")) == 300
    copies = await world.rows("SELECT memory_id FROM forgotten_memories ORDER BY memory_id")
    evicted = await world.rows("SELECT memory_id FROM memory_events WHERE kind = 'evicted' ORDER BY memory_id")
    assert copies == evicted
    await consistent(world, "server_memories")


def is_in(result: dict[str, Any]) -> bool:
    return result["status"] in {Status.SAVED, Status.SAVED_WITH_EVICTION, Status.ALREADY_KNOWN}


async def test_128_writers_from_4_processes_on_one_owner(
    repository: MemoryRepository, store: Store, world: World, database_url: str
) -> None:
    """Twins of one text, evictions and refusals at once: the cap holds at each moment, and every id means its row."""
    server = await world.server()
    cap, old, texts = 60, 20, 96
    for number in range(old):
        await save(repository, store, about_server(server, f"old {number}"), now=NOW - 4000 * DAY)
    # 96 texts, 32 of them twice and in two processes, which do not say them in the same letters.
    contents = [f"fact {number}" for number in range(texts)] + [f"FACT  {number * 3}!" for number in range(32)]
    jobs = split(Job(database_url, "server", server, None, [], cap=cap, can_recall=True), contents)
    ended, most = asyncio.Event(), 0

    async def watch() -> None:
        nonlocal most
        while not ended.is_set():
            most = max(most, len(await world.rows("SELECT FROM server_memories")))
            await asyncio.sleep(0.002)

    watching = asyncio.create_task(watch())
    async with asyncio.timeout(60):
        results = await race(jobs)
    ended.set()
    await watching
    assert most == cap
    statuses = Counter(result["status"] for result in results)
    assert set(statuses) <= {
        Status.SAVED,
        Status.SAVED_WITH_EVICTION,
        Status.ALREADY_KNOWN,
        Status.SAVE_LIMIT_EXCEEDED,
    }
    assert statuses[Status.SAVED] == cap - old
    assert statuses[Status.SAVED_WITH_EVICTION] == old
    assert statuses.total() == len(contents) == 128
    rows = await world.rows("SELECT server_memory_id AS id, content, content_key FROM server_memories")
    by_id = {row["id"]: row["content_key"] for row in rows}
    assert len(rows) == len(set(by_id.values())) == cap
    said = [content for job in jobs for content in job.contents]
    for content, result in zip(said, results, strict=True):
        if is_in(result):
            assert by_id[result["memory_id"]] == content_key(content)
        else:
            assert content_key(content) not in by_id.values()
    await consistent_with_twins(world, statuses[Status.ALREADY_KNOWN])


async def consistent_with_twins(world: World, known: int) -> None:
    await consistent(world, "server_memories")
    events = Counter(event["kind"] for event in await world.rows("SELECT kind FROM memory_events"))
    assert events == {"created": 80, "evicted": 20, "reinforced": known}
    copies = await world.rows("SELECT memory_id FROM forgotten_memories")
    evicted = await world.rows("SELECT memory_id FROM memory_events WHERE kind = 'evicted'")
    assert {row["memory_id"] for row in copies} == {row["memory_id"] for row in evicted}
    assert len(copies) == 20
