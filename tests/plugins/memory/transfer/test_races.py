"""Imports beside saves, other imports and changes of privacy: caps hold, nothing is doubled, nobody waits for ever."""

import asyncio
from typing import Any

import pytest

from agent.contracts.people import PrivacyLevel
from agent.privacy.repository import Privacy
from agent.store.pool import ExternalServer, Store
from plugins.memory.transfer.importing import How
from plugins.memory.transfer.outcome import Became
from tests.plugins.memory.race_worker import Job, one
from tests.plugins.memory.stage import Stage
from tests.plugins.memory.transfer.traffic import Traffic, became, file_of
from tests.plugins.memory.world import Person, World

pytestmark = pytest.mark.unwatched_loop  # hundreds of tasks start at once


async def about(world: World, people: list[Person]) -> list[dict[str, Any]]:
    """A fact about each person, so that an import rests on all of them."""
    accounts = await world.rows(
        "SELECT external_id FROM accounts WHERE account_id = ANY ($1) ORDER BY account_id",
        [person.account_id for person in people],
    )
    return [
        {"content": f"fact {number}", "about": {"platform": "console", "id": row["external_id"]}}
        for number, row in enumerate(accounts)
    ]


async def other(database_url: str, work: Any) -> Any:
    """Work with a pool and locks of its own, as another process has them."""
    async with Store(ExternalServer(database_url), size=4) as store:
        return await work(Traffic(Stage(store)))


async def test_imports_at_once_are_one(world: World, database_url: str) -> None:
    server = await world.server()
    people = [await world.person() for _ in range(20)]
    facts = await about(world, people)
    files = [file_of(*facts), file_of(*reversed(facts))]

    async def take(file: Any) -> list[Became]:
        async def work(traffic: Traffic) -> list[Became]:
            return became(await traffic.take(file, server))

        found: list[Became] = await other(database_url, work)
        return found

    async with asyncio.timeout(30):
        results = await asyncio.gather(*(take(file) for file in files * 2))
    assert sum(kinds.count(Became.SAVED) for kinds in results) == 20
    assert sum(kinds.count(Became.KNOWN) for kinds in results) == 60
    assert len(await world.rows("SELECT FROM server_memories")) == 20


async def test_imports_and_saves_into_few_places(traffic: Traffic, world: World, database_url: str) -> None:
    server, people = await world.server(), [await world.person() for _ in range(10)]
    facts = await about(world, people)
    traffic.configure(max_server_memories=15)
    writing = traffic.stage.toolbox.writing

    async def take(number: int) -> list[Became]:
        async def work(elsewhere: Traffic) -> list[Became]:
            elsewhere.configure(max_server_memories=15)
            entries = [{**fact, "content": f"{number} {fact['content']}"} for fact in facts]
            return became(await elsewhere.take(file_of(*entries), server))

        found: list[Became] = await other(database_url, work)
        return found

    jobs = [Job(database_url, "server", server, person.account_id, [], cap=15) for person in reversed(people)]
    async with asyncio.timeout(30):
        imported = asyncio.gather(*(take(number) for number in range(3)))
        saved = await asyncio.gather(*(one(writing, job, f"own {number}") for number, job in enumerate(jobs)))
        kinds = [kind for each in await imported for kind in each]
    fresh = kinds.count(Became.SAVED) + sum(result.status == "memory_saved_successfully" for result in saved)
    assert fresh == 15
    assert len(await world.rows("SELECT FROM server_memories")) == 15


async def test_nothing_of_a_person_comes_in_after_their_level_is_confirmed(
    traffic: Traffic, world: World, store: Store
) -> None:
    server, people = await world.server(), [await world.person() for _ in range(10)]
    facts = await about(world, people)
    last = people[-1]

    async def hide() -> int:
        await asyncio.sleep(0.05)
        await Privacy(store).set_level(last.account_id, PrivacyLevel.PARTIAL)
        return len(await mine())

    async def mine() -> list[dict[str, Any]]:
        return await world.rows("SELECT FROM server_memories WHERE subject_account_id = $1", last.account_id)

    async def take() -> list[list[Became]]:
        rounds: list[list[Became]] = []
        while not rounds or Became.REFUSED not in rounds[-1]:
            number = len(rounds)
            entries = [{**fact, "content": f"{number} {fact['content']}"} for fact in facts]
            rounds.append(became(await traffic.take(file_of(*entries), server)))
        return rounds

    traffic.configure(max_server_memories=10_000)
    async with asyncio.timeout(30):
        confirmed, rounds = await asyncio.gather(hide(), take())
    assert rounds[0][-1] is Became.SAVED
    assert rounds[-1] == [*[Became.SAVED] * 9, Became.REFUSED]
    assert len(await mine()) == confirmed == len(rounds) - 1


async def test_replacements_at_once_leave_one_of_the_files(world: World, database_url: str) -> None:
    server = await world.server()

    async def replace(name: str) -> bool:
        async def work(traffic: Traffic) -> bool:
            file = file_of(*({"content": f"{name} {number}"} for number in range(10)))
            return (await traffic.take(file, server, How(replaces=True))).written

        written: bool = await other(database_url, work)
        return written

    async with asyncio.timeout(30):
        assert all(await asyncio.gather(*(replace(name) for name in "abcd")))
    rows = await world.rows("SELECT content FROM server_memories ORDER BY server_memory_id")
    [name] = {row["content"].partition(" ")[0] for row in rows}
    assert [row["content"] for row in rows] == [f"{name} {number}" for number in range(10)]
    assert len(await world.rows("SELECT FROM forgotten_memories")) == 30
