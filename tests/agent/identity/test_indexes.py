"""The indexes of names beside a plain reading of the rows, while several processes change them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.directory_changes import Member, MemberLeft, MembersSeen
from agent.identity.arrivals import Arrivals
from agent.identity.indexes import NameIndexes
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.identity.names import skeletons
from agent.identity.people import People
from agent.invalidation import Invalidation
from agent.places import ServerRef
from agent.store.pool import ExternalServer, Store
from tests.agent.identity.builders import GENERAL, NOW, author
from tests.clocks import ManualClock

NAMES = ["Ana", "Anna", "Hannah", "Daniel", "Daniela", "\u0410na", "Danie1", "Bob"]
SERVERS = [ServerRef("console", "one", "One"), ServerRef("console", "two", "Two")]


@dataclass(frozen=True)
class Step:
    """What one of three processes does."""

    process: int
    server: int
    person: int
    what: str
    name: str


STEPS = st.lists(
    st.builds(
        Step,
        st.integers(0, 2),
        st.integers(0, 1),
        st.integers(1, 5),
        st.sampled_from(["see", "see all", "speak", "leave", "erase", "nickname", "purge", "ask"]),
        st.sampled_from(NAMES),
    ),
    max_size=30,
)


class Process:
    """One agent process, as far as it knows people."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.people = People(store)
        # So small that servers push each other out.
        self.indexes = NameIndexes(store, names=12)
        self.arrivals = Arrivals(store, Invalidation(store), ManualClock(NOW))

    async def do(self, step: Step) -> None:
        server, key = SERVERS[step.server], ParticipantKey(ParticipantKind.CONSOLE_USER, f"p{step.person}")
        match step.what:
            case "see" | "see all":
                member = Member(key.kind, key.id, step.name, f"{step.name} Global", key.id)
                await self.arrivals.observe(MembersSeen(server, (member,), is_complete=step.what == "see all"))
            case "speak":
                await self.people.enter(server, GENERAL, author(key.id, step.name), NOW)
            case "leave":
                await self.arrivals.observe(MemberLeft(server, key))
            case "erase":
                await self.execute("DELETE FROM names n USING accounts a WHERE a.account_id = n.account_id AND "
                                   "a.external_id = $1", key.id)  # fmt: skip
            case "nickname":
                await self.execute(
                    "INSERT INTO names SELECT a.account_id, s.server_id, 'nickname', $3, lower($3), $4 "
                    "FROM accounts a, servers s WHERE a.external_id = $1 AND s.external_id = $2 "
                    "ON CONFLICT (server_id, account_id, source) DO UPDATE SET value = $3, normalised = lower($3)",
                    key.id, server.external_id, step.name, NOW,
                )  # fmt: skip
            case "purge":
                await self.execute(
                    "UPDATE servers SET purge_after = $2 WHERE external_id = $1", server.external_id, NOW
                )
                await self.arrivals.purge()
            case _:
                await self.assert_true(server)

    async def execute(self, statement: str, *arguments: object) -> None:
        async with self.store.connection() as conn:
            await conn.execute(statement, *arguments)

    async def assert_true(self, server: ServerRef) -> None:
        """Compare every answer with what the rows say now; nobody changes them meanwhile."""
        rows = await self.rows(server)
        server_id = await self.server_id(server)
        index = await self.indexes.get(server_id)
        assert len(index) == len({(account, name) for account, name, _ in rows})
        written = [(account, skeletons(value)) for account, _, value in rows]
        for value in NAMES:
            name = value.casefold()
            assert index.owners(name) == {account for account, borne, _ in rows if borne == name}
            looks = skeletons(value)
            assert index.lookalikes(looks) == {account for account, own in written if not looks.isdisjoint(own)}

    async def rows(self, server: ServerRef) -> list[tuple[int, str, str]]:
        async with self.store.connection() as conn:
            found = await conn.fetch(
                "SELECT n.account_id, n.normalised, n.value FROM names n JOIN servers s USING (server_id) "
                "WHERE s.external_id = $1 AND EXISTS (SELECT FROM names g WHERE g.server_id = n.server_id "
                "AND g.account_id = n.account_id AND g.source = 'guild')",
                server.external_id,
            )
        return [(row[0], row[1], row[2]) for row in found]

    async def server_id(self, server: ServerRef) -> int:
        async with self.store.connection() as conn:
            found = await conn.fetchval("SELECT server_id FROM servers WHERE external_id = $1", server.external_id)
        return found or 0


@pytest_asyncio.fixture
async def processes(store: Store, database_url: str) -> AsyncIterator[list[Process]]:
    async with AsyncExitStack() as stack:
        others = [await stack.enter_async_context(Store(ExternalServer(database_url), size=4)) for _ in range(2)]
        yield [Process(each) for each in (store, *others)]


@pytest.mark.timeout(120)
async def test_it_is_true_whatever_happened_in_whatever_process(processes: list[Process]) -> None:
    loop = asyncio.get_running_loop()

    async def check(steps: list[Step]) -> None:
        for step in steps:
            await processes[step.process].do(step)
        for process in processes:
            for server in SERVERS:
                await process.assert_true(server)

    # The database goes on from example to example: what was before is part of what may happen.
    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(STEPS)
    def examples(steps: list[Step]) -> None:
        asyncio.run_coroutine_threadsafe(check(steps), loop).result(60)

    await asyncio.to_thread(examples)


async def test_changes_during_questions_are_never_lost(processes: list[Process]) -> None:
    server = SERVERS[0]
    await processes[0].do(Step(0, 0, 1, "see", "Ana"))
    server_id = await processes[0].server_id(server)
    done = False

    async def change(process: Process, person: int) -> None:
        for turn in range(25):
            await process.do(
                Step(0, 0, person, ("see", "leave", "speak")[turn % 3], NAMES[(turn + person) % len(NAMES)])
            )

    async def ask(process: Process) -> None:
        while not done:
            before = await process.rows(server)
            index = await process.indexes.get(server_id)
            held = {account: set(index.names_of(account)) for account, _, _ in before}
            if sorted(before) == sorted(await process.rows(server)):  # nothing was committed meanwhile
                assert held == {account: {name for other, name, _ in before if other == account} for account in held}

    asking = [asyncio.create_task(ask(process)) for process in processes for _ in range(2)]
    await asyncio.gather(*(change(process, number) for number, process in enumerate(processes, 1)))
    done = True
    await asyncio.gather(*asking)
    for process in processes:
        await process.assert_true(server)


async def test_one_rename_reads_one_person(processes: list[Process], monkeypatch: pytest.MonkeyPatch) -> None:
    process = Process(processes[0].store)
    process.indexes = NameIndexes(process.store)
    server = SERVERS[0]
    members = tuple(Member(ParticipantKind.CONSOLE_USER, f"p{n}", f"Person {n}", None, f"user{n}") for n in range(300))
    await process.arrivals.observe(MembersSeen(server, members))
    server_id = await process.server_id(server)
    index = await process.indexes.get(server_id)
    put: list[int] = []
    original = type(index).put

    def counted(self: Any, account_id: int, names: Any, looks: Any) -> None:
        put.append(account_id)
        original(self, account_id, names, looks)

    monkeypatch.setattr(type(index), "put", counted)
    await processes[1].do(Step(1, 0, 7, "see", "Renamed"))
    assert await process.indexes.get(server_id) is index, "it was built anew"
    assert len(put) == 1
    assert len(index.owners("renamed")) == 1


async def test_many_changes_are_read_in_steps(processes: list[Process]) -> None:
    process = Process(processes[0].store)
    process.indexes = NameIndexes(process.store)
    server = SERVERS[0]
    await process.do(Step(0, 0, 1, "see", "Ana"))
    server_id = await process.server_id(server)
    first = await process.indexes.get(server_id)
    members = tuple(Member(ParticipantKind.CONSOLE_USER, f"p{n}", f"Person {n}", None, f"user{n}") for n in range(900))
    await processes[1].arrivals.observe(MembersSeen(server, members))
    again = await asyncio.gather(*(process.indexes.get(server_id) for _ in range(5)))
    assert all(index is not first and len(index.owners("person 899")) == 1 for index in again)
    await process.assert_true(server)


async def test_another_database_in_its_place_is_read_anew(processes: list[Process]) -> None:
    process = processes[0]
    for name in ("Ana", "Anna", "Bob"):
        await process.do(Step(0, 0, 1, "see", name))
    await process.assert_true(SERVERS[0])
    await process.execute("DELETE FROM directory_changes")
    await process.execute("DELETE FROM names")
    await process.execute("UPDATE owner_revisions SET revision = 1 WHERE owner LIKE 'people:%'")
    await process.assert_true(SERVERS[0])


async def test_a_failed_build_is_tried_again(processes: list[Process], monkeypatch: pytest.MonkeyPatch) -> None:
    process = processes[0]
    await process.do(Step(0, 0, 1, "see", "Ana"))
    server_id = await process.server_id(SERVERS[0])

    def fails(*_: object) -> None:
        raise RuntimeError("on purpose")

    with monkeypatch.context() as patched:
        patched.setattr("agent.identity.index.NameIndex.append", fails)
        results = await asyncio.gather(*(process.indexes.get(server_id) for _ in range(3)), return_exceptions=True)
    assert [type(result) for result in results] == [RuntimeError] * 3
    await process.assert_true(SERVERS[0])
    waiting = asyncio.create_task(NameIndexes(process.store).get(server_id))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
