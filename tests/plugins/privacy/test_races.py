"""Saves against decisions, in one database from several agents: what is confirmed wins."""

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
import pytest_asyncio

from agent.app import Agent
from agent.testing.app import running_agent
from tests.plugins.memory.processes import start
from tests.plugins.memory.race_worker import Job
from tests.plugins.privacy.conftest import ANA, BEN, GENERAL, HOME, MAX, SETTINGS, House

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts

SAVES = 50
REFUSED = "memory_save_failed_privacy_restricted"
EARLY, LATE = 10, 10
"""So many come before the decision, and so many after it; the others meet it."""


@pytest_asyncio.fixture
async def agents(house: House, database_url: str) -> AsyncIterator[list[Agent]]:
    """Three more agents with pools of their own, as other processes have."""
    async with contextlib.AsyncExitStack() as stack:
        more = [
            await stack.enter_async_context(running_agent(database_url, SETTINGS, clock=house.clock)) for _ in range(3)
        ]
        yield more


async def race(
    house: House, agents: list[Agent], decide: Callable[[], Awaitable[object]], target: str, count: str
) -> tuple[Counter[str], int, int]:
    """Save 50 times, and decide among it; return the statuses, and the rows at the confirmation and at the end."""
    statuses: Counter[str] = Counter()
    under_way, decided = asyncio.Event(), asyncio.Event()

    async def rows() -> int:
        (row,) = await house.rows(count)
        return int(row["count"])

    async def save(number: int) -> None:
        if number >= SAVES - LATE:
            await decided.wait()
        elif number >= EARLY:
            await under_way.wait()
        arguments = {"memory_content": f"fact {number}", "memory_scope": "target_user", "target_user": target}
        agent = agents[number % len(agents)]
        who = ANA if target == "me" else BEN
        result, _ = await agent.call_tool("create_long_term_memory", json.dumps(arguments), HOME, GENERAL, who)
        statuses[result.status] += 1
        if statuses.total() >= EARLY:
            under_way.set()

    async def confirm() -> int:
        await under_way.wait()
        await decide()
        at_confirmation = await rows()
        decided.set()
        return at_confirmation

    async with asyncio.timeout(40):
        async with asyncio.TaskGroup() as tasks:
            confirming = tasks.create_task(confirm())
            for number in range(SAVES):
                tasks.create_task(save(number))
    assert statuses.total() == SAVES
    return statuses, confirming.result(), await rows()


PERSONAL = "SELECT count(*) FROM personal_memories"


@pytest.mark.parametrize("level", ["partial", "full"])
async def test_no_memory_appears_after_a_level_is_confirmed(house: House, agents: list[Agent], level: str) -> None:
    await house.meet(ANA, BEN)
    statuses, confirmed, final = await race(house, agents, lambda: house.run("set", level=level), "Ana", PERSONAL)
    assert 0 < confirmed == final == statuses["memory_saved_successfully"] < SAVES
    # Who hides is not even named to others: then the name is nobody's.
    refused = {REFUSED, "memory_save_failed_user_not_found"}
    assert set(statuses) <= {"memory_saved_successfully", *refused}


async def test_no_personal_memory_appears_after_they_are_switched_off(house: House, agents: list[Agent]) -> None:
    await house.meet(ANA, BEN, MAX)
    statuses, confirmed, final = await race(
        house,
        agents,
        lambda: house.run("switch", who=MAX, name="personal-memories", state=False),
        "me",
        PERSONAL,
    )
    assert 0 < confirmed == final == statuses["memory_saved_successfully"] < SAVES
    assert set(statuses) == {"memory_saved_successfully", "memory_save_failed_disabled"}


async def test_nothing_is_left_after_forget_me_is_confirmed(house: House, agents: list[Agent]) -> None:
    await house.meet(ANA, BEN)

    async def forget() -> None:
        asked = await house.run("forget-me")
        assert asked.data is not None
        assert (await house.run("forget-me", code=asked.data["code"])).ok

    _, confirmed, final = await race(house, agents, forget, "me", PERSONAL)
    assert (confirmed, final) == (0, 0)


BOTH: str = "SELECT (SELECT count(*) FROM personal_memories) + (SELECT count(*) FROM server_memories) AS count"


async def said_by(process: asyncio.subprocess.Process, status: str, count: int) -> int:
    """Read what a process says until it has said a status so many times; return how many saves succeeded meanwhile."""
    assert process.stdout is not None
    saved = 0
    while count:
        result = json.loads(await process.stdout.readline())
        saved += result["status"] == "memory_saved_successfully"
        count -= result["status"] == status
    return saved


async def test_no_process_saves_after_full_is_confirmed(house: House, database_url: str) -> None:
    """Four processes save about ana without a pause, of both kinds; then she hides."""
    entrance = await house.agent.core.people.enter(HOME, GENERAL, ANA, house.clock.now())
    ana, server = entrance.account, entrance.place.server.server_id
    assert ana.user_id is not None
    jobs = [
        Job(database_url, scope, owner, ana.account_id, [f"fact of {number}"], cap=10_000, endless=True)
        for number, (scope, owner) in enumerate([("personal", ana.user_id), ("server", server)] * 2)
    ]
    processes = await asyncio.gather(*(start("race_worker", job) for job in jobs))
    try:
        for process in processes:
            assert process.stdin is not None
            process.stdin.write(b"go\n")
        async with asyncio.timeout(60):
            each = SAVES // len(jobs) + 1
            saved = await asyncio.gather(*(said_by(one, "memory_saved_successfully", each) for one in processes))
            assert (await house.run("set", level="full")).ok
            (confirmed,) = await house.rows(BOTH)
            more = await asyncio.gather(*(said_by(one, REFUSED, 10) for one in processes))
    finally:
        for process in processes:
            process.kill()
            await process.communicate()
    assert sum(saved) >= SAVES
    assert await house.rows(BOTH) == [confirmed]
    assert confirmed["count"] == sum(saved) + sum(more)
