"""Changes and exports of the same memories from several processes, on a real database, through the tools."""

import asyncio
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest

from plugins.memory.status import Status
from tests.plugins.memory.change_worker import ANA, END, SHELVES, Job, steps
from tests.plugins.memory.processes import race
from tests.plugins.memory.stage import Stage

pytestmark = pytest.mark.unwatched_loop  # processes start

type State = frozenset[tuple[str, str]]


async def test_updates_and_deletions_from_4_processes_leave_one_story(stage: Stage, database_url: str) -> None:
    """Two processes update what all of them were shown, two delete it: one does, and knows what it said last."""
    context = await stage.context(ANA)
    await stage.tell(ANA)
    memories: list[tuple[str, int]] = []
    for number in range(20):
        for scope, target in SHELVES.items():
            memory_id = (await stage.create(context, f"fact {number}", target)).data["memory_id"]
            assert isinstance(memory_id, int)
            memories.append((scope, memory_id))
    jobs = [Job(database_url, does, f"{does} {n}", memories) for n in range(2) for does in ("update", "delete")]
    async with asyncio.timeout(60):
        results = await race("change_worker", jobs)
    said: dict[int, list[tuple[Job, dict[str, Any]]]] = {memory_id: [] for _, memory_id in memories}
    for job, changes in zip(jobs, results, strict=True):
        for memory_id, result in changes:
            said[memory_id].append((job, result))
    versions = {}
    for number, (_, memory_id) in enumerate(memories):
        updates = Counter(result["status"] for job, result in said[memory_id] if job.does == "update")
        assert set(updates) <= {Status.UPDATED, Status.UPDATE_CONFLICT, Status.UPDATE_NOT_FOUND}
        assert updates[Status.UPDATED] <= 1, "the second was based on a version that is no more"
        deletions = [result for job, result in said[memory_id] if job.does == "delete"]
        assert sorted(result["status"] for result in deletions) == [Status.DELETED, Status.UPDATE_NOT_FOUND]
        [text] = [result["content_forgotten"] for result in deletions if "content_forgotten" in result]
        updaters = [job.name for job, result in said[memory_id] if result["status"] == Status.UPDATED]
        assert [text] == (updaters or [f"fact {number // 2}"])
        versions[memory_id] = 1 + len(updaters)
    await one_story(stage, versions)


async def one_story(stage: Stage, versions: dict[int, int]) -> None:
    """Every memory is gone, with a copy of its last version, and its events tell the same in their order."""
    assert await stage.rows("SELECT FROM server_memories") == await stage.rows("SELECT FROM personal_memories") == []
    copies = await stage.rows("SELECT memory_id, (memory ->> 'version')::integer AS version FROM forgotten_memories")
    assert {copy["memory_id"]: copy["version"] for copy in copies} == versions
    assert len(copies) == len(versions)
    events: dict[int, list[str]] = {}
    for event in await stage.rows("SELECT memory_id, kind FROM memory_events ORDER BY memory_event_id"):
        events.setdefault(event["memory_id"], []).append(event["kind"])
    assert events == {one: ["created", *["updated"] * (version - 1), "deleted"] for one, version in versions.items()}
    (counted,) = await stage.rows("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
    assert counted["deadlocks"] == 0


def states(name: str) -> list[State]:
    """Return what there is of a writer after each of its steps."""
    held: set[tuple[str, str]] = set()
    found: list[State] = [frozenset()]
    for operation, scope, text in steps(name):
        if operation == "create":
            held |= {(scope, text) for scope in SHELVES}
        else:
            held.remove((scope, text))
        if operation == "update":
            held.add((scope, f"{text} changed"))
        found.append(frozenset(held))
    return found


async def test_exports_beside_writes_from_4_processes_are_each_one_moment(stage: Stage, database_url: str) -> None:
    """What a file holds of each writer, of both kinds, was there between two of its steps, and none is older."""
    await stage.context(ANA)
    await stage.tell(ANA)
    names = ["eins", "zwei"]
    writers = [Job(database_url, "write", name) for name in names]
    exports = [Job(database_url, "export", f"export {n}", until=[f"{name} {END}" for name in names]) for n in range(2)]
    async with asyncio.timeout(60):
        *statuses, first, second = await race("change_worker", [*writers, *exports])
    assert set().union(*statuses) == {Status.UPDATED, Status.DELETED}
    assert len(first) + len(second) > 10
    for files in (first, second):
        for name in names:
            story = states(name)
            assert len(set(story)) == len(story), "each moment is told from the others"
            mine = [frozenset((scope, text) for scope, text in file if text.startswith(name)) for file in files]
            moments = [story.index(state) for state in mine]
            assert all(before <= after for before, after in pairwise(moments))
            assert moments[-1] == len(story) - 1
        assert all(len(file) == len({tuple(each) for each in file}) for file in files), "nothing stands there twice"
