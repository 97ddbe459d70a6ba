"""What memories cost: `python -m benchmarks.bench_memory` prints JSON.

`save` runs the whole path of a save (guards, locks, guards again, the database's function, commit) beside `bare`: the
same lock, a count, an insert and a commit, and nothing else. `context` prepares the standing blocks of a server with
100 memories and 10 people with 100 each, from the cache and from the database. `recall` searches among these 1,100,
each with a vector, for questions that are embedded already. Everything writes to the disk with fsync on.
"""

from __future__ import annotations

import asyncio
import gc
import json
import math
import random
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from typing import Any, Final

from agent import logs
from agent.clock import SystemClock
from agent.contracts.memory import MemoryScope, MemorySource, MemoryWrite, Origin, WriteKind
from agent.contracts.people import Persona, Speaker
from agent.contracts.recall import RecallQuery
from agent.embedding_worker import ENDLESS, embed_each
from agent.events import Author, MessageCreated
from agent.identity.keys import ParticipantKind
from agent.identity.people import People
from agent.places import Audience, ChannelRef, ServerRef
from agent.plugin_host import PluginHost
from agent.privacy.guards import MemoryGuards
from agent.privacy.repository import Privacy
from agent.store.frequent_words import FrequentWords
from agent.store.migration_sets import CORE, MigrationSet
from agent.store.pool import ExternalServer, Store
from agent.store.revisions import read as read_revisions
from agent.testing.database import DatabaseCluster
from agent.testing.loop_watch import LoopWatch
from agent.turn.values import Turn, Why, server_owner, user_owner
from benchmarks.common import durable_cluster, percentiles
from plugins.memory.cards import Wording
from plugins.memory.context import Forgetting, StandingContext
from plugins.memory.recall import MemoryRecall, RecallCollector
from plugins.memory.remembered import RememberedCache
from plugins.memory.repository import MemoryRepository
from plugins.memory.saving import Request, Writing, save
from plugins.memory.search import MemorySearch, MemoryVectors, Retrieval
from plugins.memory.seen import SeenVersions
from plugins.memory.settings import DecaySettings, MemorySettings

GOALS: Final = {
    "one_writer_over_bare_p50": 1.3,
    "saves_per_second": 900,
    "saves_per_second_with_slow_fsync": 700,
    "many_owners_p95_ms": 50,
    "hot_owner_p95_ms": 80,
    "beside_hot_owner_p95_ms": 10,
    "context_cached_p50_ms": 1,
    "context_from_database_p95_ms": 6,
    "context_queries": 2,
    "recall_p95_ms": 15,
    "longest_stall_ms": 20,
}
STALL: Final = GOALS["longest_stall_ms"] / 1000
SLOW_FSYNC: Final = {"commit_delay": "2000", "commit_siblings": "0"}
"""As if each fsync took 2 ms longer: whoever writes the log out waits so long while it holds the log."""
NOW: Final = datetime(2026, 3, 1, tzinfo=UTC)
_numbers = count()


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured."""

    alone: int = 400
    """Saves of one writer, one after another."""
    writers: int = 32
    each: int = 40
    """Saves of each writer, when all write at once."""
    contexts: int = 200
    questions: int = 200
    memories: int = 100
    people: int = 10


class Silent:
    """Nothing listens."""

    def announce(self, *owners: str) -> None:
        """Tell nobody."""


class Bench:
    """A database with servers to write into."""

    def __init__(self, store: Store, hooks: PluginHost) -> None:
        self.store = store
        self.people = People(store)
        self.guards = MemoryGuards(Privacy(store), hooks)
        self.repository = MemoryRepository(store)
        settings = MemorySettings(max_server_memories=10_000, max_personal_memories=10_000)
        self.writing = Writing(store, self.repository, self.guards, Silent(), SystemClock(), settings)

    async def server(self) -> int:
        """Make a server."""
        async with self.store.connection() as conn:
            made: int = await conn.fetchval(
                "INSERT INTO servers (platform, external_id, kind, name, created_at) "
                "VALUES ('bench', $1, 'guild', 'bench', $2) RETURNING server_id",
                f"server{next(_numbers)}",
                NOW,
            )
            return made

    async def save(self, server_id: int) -> None:
        """Save one memory of a server, as the tool does once it knows whom it is about."""
        result = await save(self.writing, Request(_write(server_id, f"fact {next(_numbers)}"), Wording("bench")))
        assert result.status == "memory_saved_successfully"

    async def bare(self, server_id: int) -> None:
        """Do the least that keeps a cap: lock, count, insert, commit."""
        async with self.store.transaction() as conn:
            await conn.fetchval("SELECT server_id FROM servers WHERE server_id = $1 FOR NO KEY UPDATE", server_id)
            held = await conn.fetchval(
                "SELECT count(*) FROM server_memories WHERE server_id = $1 AND persona_lineage_id = 1", server_id
            )
            assert held < self.writing.settings.max_server_memories
            await conn.execute(
                "INSERT INTO server_memories (server_id, persona_lineage_id, content, content_key, audience, origin, "
                "source_platform, source_server_id, created_at, updated_at) "
                "VALUES ($1, 1, $2, '', 'server', 'model', 'bench', $1, $3, $3)",
                server_id,
                f"fact {next(_numbers)}",
                NOW,
            )


def _write(server_id: int, content: str) -> MemoryWrite:
    source = MemorySource("bench", server_id, "channel", "m1", "t1", "create_long_term_memory", None, NOW)
    return MemoryWrite(
        kind=WriteKind.CREATE,
        scope=MemoryScope.SERVER,
        server_id=server_id,
        user_id=None,
        lineage_id=1,
        content=content,
        audience=Audience.SERVER,
        origin=Origin.MODEL,
        source=source,
    )


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    """Return the seconds that one call took."""
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began


async def one_writer(bench: Bench, scale: Scale) -> dict[str, Any]:
    """Measure one writer, turn by turn with the bare one."""
    ours, theirs = await bench.server(), await bench.server()
    times: dict[str, list[float]] = {"save": [], "bare": []}
    for number in range(scale.alone + scale.alone // 10):
        pair = {"save": await timed(lambda: bench.save(ours)), "bare": await timed(lambda: bench.bare(theirs))}
        if number >= scale.alone // 10:
            for name, seconds in pair.items():
                times[name].append(seconds)
    figures = {name: percentiles(seconds) for name, seconds in times.items()}
    return {**figures, "over_bare_p50": round(figures["save"]["p50"] / figures["bare"]["p50"], 2)}


async def writers(work: Callable[[int], Awaitable[object]], owners: Sequence[int], each: int) -> dict[str, Any]:
    """Measure one writer an owner, all at once."""
    times: list[float] = []

    async def writer(owner: int) -> None:
        times.extend([await timed(lambda: work(owner)) for _ in range(each)])

    began = time.perf_counter()
    await asyncio.gather(*map(writer, owners))
    return {**percentiles(times), "per_second": round(len(times) / (time.perf_counter() - began))}


async def many_writers(bench: Bench, scale: Scale) -> dict[str, Any]:
    """Measure many writers over as many owners, and over one while others write on the side."""
    owners = [await bench.server() for _ in range(scale.writers)]
    figures: dict[str, Any] = {
        "bare": await writers(bench.bare, owners, scale.each),
        "save": await writers(bench.save, owners, scale.each),
    }
    hot, calm = await bench.server(), [await bench.server() for _ in range(2)]
    figures["hot_owner"], figures["beside_hot_owner"] = await asyncio.gather(
        writers(bench.save, [hot] * scale.writers, scale.each), writers(bench.save, calm, scale.each)
    )
    return figures


async def slow_fsync(url: str, hooks: PluginHost, scale: Scale) -> dict[str, Any]:
    """Measure many writers over as many owners on a disk that takes 2 ms more for each fsync."""
    async with Store(ExternalServer(url), settings=SLOW_FSYNC) as store:
        bench = Bench(store, hooks)
        owners = [await bench.server() for _ in range(scale.writers)]
        return {
            "bare": await writers(bench.bare, owners, scale.each),
            "save": await writers(bench.save, owners, scale.each),
        }


async def turn_of(bench: Bench, scale: Scale) -> Turn:
    """Fill a server and its people with memories, and return a turn in which all of them take part."""
    number = next(_numbers)
    server = ServerRef("console", f"console:bench{number}", "bench")
    channel = ChannelRef(f"console:bench{number}", "bench")
    authors = [
        Author(ParticipantKind.CONSOLE_USER, f"console:p{number}-{n}", f"Person {n}") for n in range(scale.people)
    ]
    entrances = [await bench.people.enter(server, channel, author, NOW) for author in authors]
    place, account = entrances[0].place, entrances[0].account
    server_id = place.server.server_id
    participants = await bench.people.participants(place, [author.key for author in authors])
    users = [entrance.account.user_id for entrance in entrances]
    texts = [f"fact {n}: " + "something worth knowing about it, in a sentence " for n in range(scale.memories)]
    for content in texts:
        await save(bench.writing, Request(_write(server_id, content), Wording("")))
        for user in users:
            write = replace(
                _write(server_id, content), scope=MemoryScope.PERSONAL, user_id=user, audience=Audience.OPEN
            )
            await save(bench.writing, Request(write, Wording("")))
    owners = [server_owner(server_id), *(user_owner(user) for user in users if user is not None)]
    async with bench.store.connection() as conn:
        revisions = dict(await read_revisions(conn, owners))
    return Turn(
        turn_id="bench",
        event=MessageCreated("console", "e", "m", server, channel, authors[0], "hello", NOW),
        place=place,
        account=account,
        speaker=Speaker(account.key, account.user_id, account.display_name),
        persona=Persona(1, server_id, 1, "Isthmus", "", None, (), is_default=True),
        bot_name="Isthmus",
        now=NOW,
        why=Why.MENTION,
        attempt=1,
        participants=participants,
        revisions=revisions,
    )


async def contexts(bench: Bench, scale: Scale) -> dict[str, Any]:
    """Measure the standing blocks, from the cache and from the database."""
    turn = await turn_of(bench, scale)
    cache = RememberedCache(bench.repository, SystemClock())
    forgetting = Forgetting(DecaySettings(), Retrieval(MemorySearch(bench.store), None), RecallCollector())
    context = StandingContext(bench.repository, cache, bench.guards, SeenVersions(), forgetting)
    expected = scale.memories * (1 + scale.people)

    async def prepare() -> None:
        assert sum(len(item.entries) for item in await context.items(turn)) == expected

    async def load() -> None:
        for owner in turn.revisions:
            cache.forget(owner)
        await prepare()

    await prepare()
    figures: dict[str, Any] = {"entries": expected}
    for name, work in (("from_database", load), ("cached", prepare)):
        figures[name] = percentiles([await timed(work) for _ in range(scale.contexts)])
    return figures


class Random:
    """Vectors as a model of 256 numbers might give them: how long a search takes does not depend on what they mean."""

    name, dimension, threshold = "random", 256, 0.25

    def __init__(self) -> None:
        self._dice = random.Random(20260301)  # noqa: S311  # the same in each run

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector for each text."""
        return [self._vector() for _ in texts]

    def _vector(self) -> list[float]:
        vector = [self._dice.gauss(0, 1) for _ in range(self.dimension)]
        length = math.hypot(*vector)
        return [number / length for number in vector]

    async def close(self) -> None:
        """Nothing is held."""


async def recalls(bench: Bench, scale: Scale) -> dict[str, Any]:
    """Measure the search for what a message calls back, all memories being admitted."""
    turn, embedder, search = await turn_of(bench, scale), Random(), MemorySearch(bench.store)
    vectors, collector = MemoryVectors(bench.store, search), RecallCollector()
    before = ENDLESS
    while rows := await vectors.pending(embedder.name, 0, before, 200):
        embedded, _ = await embed_each(embedder, rows)
        await vectors.keep(embedder.name, embedded)
        before = rows[-1].row_id
    async with bench.store.connection() as conn:
        await conn.execute("ANALYZE")
    cache = RememberedCache(bench.repository, SystemClock())
    forgetting = Forgetting(DecaySettings(), Retrieval(search, embedder), collector)
    context = StandingContext(bench.repository, cache, bench.guards, SeenVersions(), forgetting)
    tables = ("server_memories", "personal_memories")
    frequent = tuple(FrequentWords(bench.store, SystemClock(), table) for table in tables)
    recall = MemoryRecall(search, collector, frequent, Silent())
    times = []
    for number in range(scale.questions):
        await context.items(turn)
        (vector,) = await embedder.embed([""])
        text = (
            f"does Person {number % scale.people} know fact {number % scale.memories} or another thing about the boat?"
        )
        query = RecallQuery(text, tuple(vector), embedder.name, frozenset({"user:1"}))

        async def find(query: RecallQuery = query) -> None:
            assert await recall.candidates(turn, query)

        times.append(await timed(find))
    return percentiles(times)


async def measure(url: str, scale: Scale) -> dict[str, Any]:
    """Measure everything in one database."""
    hooks = PluginHost([])
    gc.collect()
    gc.freeze()  # as a running agent does at its start
    async with Store(ExternalServer(url)) as store:
        bench = Bench(store, hooks)
        figures = {
            "one_writer": await one_writer(bench, scale),
            "many_writers": await many_writers(bench, scale),
            "many_writers_with_slow_fsync": await slow_fsync(url, hooks, scale),
            "context": await contexts(bench, scale),
            "recall": await recalls(bench, scale),
        }
        # Watching costs some microseconds a callback, so it has a run of its own.
        watch = LoopWatch(STALL)
        watch.start()
        await many_writers(bench, scale)
        await contexts(bench, replace(scale, contexts=scale.contexts // 4 or 1))
        watch.stop()
    return {"goals": GOALS, **figures, "longest_stall_ms": round(watch.longest * 1000, 1)}


async def run(cluster: DatabaseCluster, scale: Scale) -> dict[str, Any]:
    """Measure in a database of its own."""
    sets = (CORE, MigrationSet("memory", "plugins.memory.migrations"))
    return await measure(cluster.url(await asyncio.to_thread(cluster.create_template, sets)), scale)


if __name__ == "__main__":
    logs.configure("json", "error", sys.stderr)
    with durable_cluster() as disk:
        print(json.dumps(asyncio.run(run(disk, Scale())), indent=2))
