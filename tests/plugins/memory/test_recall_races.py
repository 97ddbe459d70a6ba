"""Reinforcement and vectors beside saves, evictions, edits and erasures of the same rows: nobody waits in a circle."""

import asyncio
import random
from datetime import timedelta

from agent.embedding_worker import ENDLESS, Embedded
from agent.privacy.repository import lock_person
from agent.store.pool import Store
from plugins.memory.repository import Actor, Edit, MemoryRepository, Room
from plugins.memory.search import MemorySearch, MemoryVectors
from tests.plugins.memory.world import NOW, Person, World, about_person, about_server, save

ROOM = Room(cap=6, may_evict=True, decay_days=1)
NOBODY = Actor(None, None, None)
ROUNDS = 25
IDS = "SELECT server_memory_id AS id FROM server_memories UNION ALL SELECT personal_memory_id FROM personal_memories"


class Crowd:
    """Somebody who does something at random to the same few owners."""

    def __init__(self, world: World, servers: list[int], people: list[Person], seed: int) -> None:
        self.world, self.store = world, world.store
        self.servers, self.people = servers, people
        self.repository, self.search = MemoryRepository(world.store), MemorySearch(world.store)
        self.dice = random.Random(seed)  # the same in each run
        self.now = NOW

    async def work(self) -> set[str]:
        does = (self.saves, self.reinforces, self.embeds, self.edits, self.erases)
        done = set()
        for _ in range(ROUNDS):
            (each,) = self.dice.choices(does, weights=(4, 3, 3, 1, 1))
            await each()
            done.add(each.__name__)
            self.now += timedelta(days=1)
        return done

    async def saves(self) -> None:
        person, content = self.dice.choice(self.people), f"fact {self.dice.random()}"
        write = about_person(person.user_id, content, subject_account_id=person.account_id)
        if self.dice.random() < 0.5:
            write = about_server(self.dice.choice(self.servers), content, subject_account_id=person.account_id)
        await save(self.repository, self.store, write, ROOM, self.now)

    async def reinforces(self) -> None:
        ids = [row["id"] for row in await self.world.rows(IDS)]
        await self.search.reinforce(self.dice.sample(ids, min(6, len(ids))), "t", self.now - timedelta(days=2))

    async def embeds(self) -> None:
        vectors = MemoryVectors(self.store, self.search)
        rows = list(await vectors.pending("m", 0, ENDLESS, 20))
        self.dice.shuffle(rows)
        if rows:
            await vectors.keep("m", [Embedded(row.row_id, row.version, [1.0, 0.0]) for row in rows])

    async def edits(self) -> None:
        rows = await self.repository.block(self.dice.choice(self.servers), [], 1)
        if not rows:
            return
        memory = self.dice.choice(rows)
        async with self.store.transaction() as conn:
            await conn.execute("SELECT FROM servers WHERE server_id = $1 FOR NO KEY UPDATE", memory.owner_id)
            edit = Edit(f"fact {self.dice.random()}", memory.version, None, None)
            await self.repository.edit(conn, memory, edit, NOBODY, self.now)

    async def erases(self) -> None:
        person = self.dice.choice(self.people)
        async with self.store.transaction() as conn:
            await lock_person(conn, person.account_id)
            await self.repository.erase(conn, person.account_id, person.user_id, self.now)


async def test_reinforcing_and_embedding_never_wait_in_a_circle(store: Store, world: World) -> None:
    assert await MemorySearch(store).has_embeddings()
    servers, people = [await world.server(), await world.server()], [await world.person() for _ in range(3)]
    async with asyncio.timeout(60):
        done = await asyncio.gather(*(Crowd(world, servers, people, seed).work() for seed in range(8)))
    assert set().union(*done) == {"saves", "reinforces", "embeds", "edits", "erases"}
    (counted,) = await world.rows("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
    assert counted["deadlocks"] == 0
    orphans = await world.rows(f"SELECT memory_id FROM memory_embeddings WHERE memory_id NOT IN ({IDS})")  # noqa: S608
    assert orphans == [], "no vector outlives its memory"
