"""How long it takes to call something back: `python -m benchmarks.bench_recall_speed` prints JSON, in milliseconds.

A server has 10,000 parts of documents, 100 memories, and 10 people with 100 memories each; half as much again belongs
to another server. `recall` is what a turn does once its question is embedded: the search of both plugins, and the
ranking of what they found. `vectors_alone` is the least that a search by meaning can do in the same database and the
same round: one exact scan of the same vectors, without words, filters and texts. Embedding the question is given
separately. The database writes to the disk, and its tables were vacuumed and analysed as PostgreSQL does by itself.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

from agent import logs
from agent.app import Agent
from agent.contracts.recall import RecallQuery
from agent.core import Core
from agent.events import Author, MessageCreated
from agent.identity.keys import ParticipantKind
from agent.models.embeddings import Embedder, load_wordllama
from agent.places import Audience, ChannelRef, ServerRef
from agent.search_words import words_to_keep
from agent.testing.app import settings_for_test
from agent.testing.database import DatabaseCluster
from agent.testing.loop_watch import LoopWatch
from agent.turn.recall import rank
from agent.turn.values import Turn, Why
from benchmarks.common import durable_cluster, percentiles
from plugins.documents.document import ReadFile, ReadPart, Scope
from plugins.documents.kinds import Kind
from plugins.documents.repository import DocumentRepository
from plugins.documents.settings import DocumentsSettings

GOALS: Final = {"recall_p95_ms": 15.0, "longest_stall_ms": 20.0}
NOW: Final = datetime(2026, 3, 1, tzinfo=UTC)
CHANNEL: Final = ChannelRef("bench/general", "general")
_SERVER: Final = ServerRef("console", "bench", "bench")
_OTHER: Final = ServerRef("console", "other", "other")
_WATCHED: Final = 60
"""Rounds in which the loop is watched; of no more turns the plugin holds what passed the filters."""
_SCAN: Final = (
    "SELECT row_id FROM (SELECT row_id, embedding <#> $1::real[]::vector AS far FROM document_vectors "
    "UNION ALL SELECT memory_id, embedding <#> $1::real[]::vector FROM memory_embeddings) AS every "
    "ORDER BY far LIMIT 6"
)


@dataclass(frozen=True, slots=True)
class Scale:
    """How much there is, and how often it is asked."""

    documents: int = 100
    parts: int = 100
    """Of each document."""
    memories: int = 100
    """Of the server, and of each person."""
    people: int = 10
    rounds: int = 300


class Writer:
    """Texts of made-up words, the frequent ones as frequent as in a natural language."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - nothing here is secret
        syllables = [consonant + vowel for consonant in "bcdfghklmnprstvwz" for vowel in "aeiou"]
        words = {"".join(self._random.choices(syllables, k=self._random.randint(1, 4))) for _ in range(30_000)}
        self._words = sorted(words)
        self._random.shuffle(self._words)
        self._weights = list(accumulate(1 / rank for rank in range(1, len(self._words) + 1)))

    def text(self, words: int) -> str:
        """Return a text of so many words."""
        return " ".join(self._random.choices(self._words, cum_weights=self._weights, k=words))


class Bench:
    """A filled database and a running agent."""

    def __init__(self, agent: Agent, scale: Scale) -> None:
        self.core: Core = agent.core
        self.scale = scale
        self.writer = Writer(7)

    async def fill(self) -> dict[str, Any]:
        """Write documents and memories, and have them embedded; return what that took."""
        people = [Author(ParticipantKind.CONSOLE_USER, f"p{n}", f"Person {n}") for n in range(self.scale.people)]
        for where, share in ((_SERVER, 1.0), (_OTHER, 0.5)):
            entrances = [await self.core.people.enter(where, CHANNEL, person, NOW) for person in people]
            server_id = entrances[0].place.server.server_id
            await self._documents(server_id, int(self.scale.documents * share))
            await self._memories("server_memories", "server_id", server_id, int(self.scale.memories * share))
            if where is _SERVER:
                for entrance in entrances:
                    assert entrance.account.user_id is not None
                    user_id = entrance.account.user_id
                    await self._memories("personal_memories", "user_id", user_id, self.scale.memories)
        began, watch = time.perf_counter(), LoopWatch()
        watch.start()
        await self._embed()
        watch.stop()
        seconds = time.perf_counter() - began
        async with self.core.store.connection() as conn:
            for table in ("documents", "document_chunks", "document_vectors", "memory_embeddings"):
                await conn.execute(f"VACUUM ANALYZE {table}")
            await conn.execute("VACUUM ANALYZE server_memories")
            await conn.execute("VACUUM ANALYZE personal_memories")
            vectors = await conn.fetchval("SELECT count(*) FROM document_vectors")
            vectors += await conn.fetchval("SELECT count(*) FROM memory_embeddings")
        return {
            "vectors": vectors,
            "seconds": round(seconds, 2),
            "longest_stall_ms": round(watch.longest * 1000, 2),
        }

    async def _embed(self) -> None:
        for name in ("documents", "memories"):
            self.core.embedding_worker.wake(name)
        await self.core.embedding_worker.idle()

    async def _documents(self, server_id: int, count: int) -> None:
        repository = DocumentRepository(self.core.store, DocumentsSettings())
        for number in range(count):
            texts = [self.writer.text(150) for _ in range(self.scale.parts)]
            parts = tuple(ReadPart("heading", text, " ".join(words_to_keep("heading", text))) for text in texts)
            scope = Scope(server_id, None, (), Audience.SERVER, "console", None)
            digest = f"{server_id}/{number}".encode()
            title = f"Document {number}"
            read = ReadFile(Kind.TEXT, None, parts)
            await repository.add(read, title, scope, digest=digest, size=1, uploader=None, now=NOW)

    async def _memories(self, table: str, owner: str, owner_id: int, count: int) -> None:
        texts = [self.writer.text(15) for _ in range(count)]
        async with self.core.store.connection() as conn:
            await conn.executemany(
                f"INSERT INTO {table} ({owner}, persona_lineage_id, content, content_key, words, audience, origin, "  # noqa: S608 - names of ours
                "source_platform, created_at, updated_at) VALUES ($1, 1, $2, '', array_to_tsvector($3::text[]), $4, "
                "'model', 'console', $5, $5)",
                [
                    (owner_id, text, words_to_keep(text), "server" if owner == "server_id" else "open", NOW)
                    for text in texts
                ],
            )

    async def turns(self) -> list[Turn]:
        """Return a turn for each round."""
        people = [Author(ParticipantKind.CONSOLE_USER, f"p{n}", f"Person {n}") for n in range(self.scale.people)]
        entrance = await self.core.people.enter(_SERVER, CHANNEL, people[0], NOW)
        participants = await self.core.people.participants(entrance.place, [person.key for person in people])
        turn = Turn(
            turn_id="t",
            event=MessageCreated("console", "e", "m", _SERVER, CHANNEL, people[0], "", NOW),
            place=entrance.place,
            account=entrance.account,
            speaker=participants[0].speaker,
            persona=await self.core.personas.default(entrance.place.server.server_id),
            bot_name="Isthmus",
            now=NOW,
            why=Why.MENTION,
            attempt=1,
            participants=participants,
        )
        texts = [self.writer.text(12) for _ in range(self.scale.rounds)]
        return [replace(turn, turn_id=f"t{n}", event=replace(turn.event, text=text)) for n, text in enumerate(texts)]

    async def questions(self, turns: Sequence[Turn]) -> tuple[list[RecallQuery], dict[str, float]]:
        """Return the questions with their vectors, and how long embedding one takes."""
        queries, times = [], []
        for turn in turns:
            began = time.perf_counter()
            (vector,) = await self.embedder.embed([turn.event.text])
            times.append(time.perf_counter() - began)
            queries.append(RecallQuery(turn.event.text, tuple(vector), self.embedder.name))
        return queries, percentiles(times)

    async def recall(self, turn: Turn, query: RecallQuery) -> float:
        """Return how long the search and the ranking take; the standing context comes before, as in a turn."""
        await self.core.hooks.collect("context_items", turn=turn)
        began = time.perf_counter()
        offered = await self.core.hooks.collect("recall", turn=turn, query=query)
        best = rank([one for some in offered for one in some], query, threshold=self.embedder.threshold)
        seconds = time.perf_counter() - began
        assert len(offered) == 2  # noqa: PLR2004 - both plugins were asked
        assert best or query.vector is None
        return seconds

    async def vectors_alone(self, query: RecallQuery) -> float:
        """Return how long one exact scan of the same vectors takes."""
        began = time.perf_counter()
        async with self.core.store.connection() as conn:
            await conn.fetch(_SCAN, query.vector)
        return time.perf_counter() - began

    async def compare(self, turns: Sequence[Turn], queries: Sequence[RecallQuery]) -> dict[str, Any]:
        """Return both side by side, and the search by words alone; first the statements are prepared."""
        for turn, query in zip(turns[:10], queries, strict=False):
            await self.recall(turn, query)
            await self.vectors_alone(query)
        times: dict[str, list[float]] = {"recall": [], "recall_by_words_alone": [], "vectors_alone": []}
        for turn, query in zip(turns, queries, strict=True):
            times["vectors_alone"].append(await self.vectors_alone(query))
            times["recall"].append(await self.recall(turn, query))
            times["recall_by_words_alone"].append(await self.recall(turn, RecallQuery(query.text)))
        figures = {name: percentiles(seconds) for name, seconds in times.items()}
        over = figures["recall"]["p50"] / figures["vectors_alone"]["p50"]
        # Watching costs some microseconds a callback, so it has a run of its own.
        some = turns[:_WATCHED]
        for turn in some:
            await self.core.hooks.collect("context_items", turn=turn)
        watch = LoopWatch()
        watch.start()
        for turn, query in zip(some, queries, strict=False):
            await self.core.hooks.collect("recall", turn=turn, query=query)
        watch.stop()
        return {**figures, "over_vectors_alone_p50": round(over, 2), "longest_stall_ms": round(watch.longest * 1000, 2)}

    @property
    def embedder(self) -> Embedder:
        """The model."""
        assert self.core.embedder is not None
        return self.core.embedder


async def measure(url: str, scale: Scale) -> dict[str, Any]:
    """Fill an empty database and measure in it."""
    await asyncio.to_thread(load_wordllama)
    with tempfile.TemporaryDirectory() as directory:
        tables = {"agent": {"embeddings": "local"}, "plugins": {"memory": {}, "documents": {}}}
        agent = await Agent.start(settings_for_test(url, tables, data_dir=Path(directory)), bridges=())
        try:
            bench = Bench(agent, scale)
            backfill = await bench.fill()
            turns = await bench.turns()
            queries, embedding = await bench.questions(turns)
            return {
                "unit": "ms",
                "goals": GOALS,
                "parts": scale.documents * scale.parts,
                "memories": scale.memories * (scale.people + 1),
                "backfill": backfill,
                "embedding_a_question": {bench.embedder.name: embedding},
                **await bench.compare(turns, queries),
            }
        finally:
            await agent.stop()


async def run(cluster: DatabaseCluster, scale: Scale) -> dict[str, Any]:
    """Measure in a database of its own."""
    return await measure(cluster.url(await asyncio.to_thread(cluster.create)), scale)


def main() -> None:
    """Print the figures."""
    logs.configure("console", "error", sys.stderr)
    with durable_cluster() as cluster:
        print(json.dumps(asyncio.run(run(cluster, Scale())), indent=2))


if __name__ == "__main__":
    main()
