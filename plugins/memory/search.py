"""Finding memories by meaning and by words, their vectors, and the reinforcement of what was found: the SQL of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final

from agent.contracts.memory import MemoryScope
from agent.embedding_worker import Embedded, Unembedded
from agent.search_words import any_of, quoted, with_names, words_to_keep
from agent.store.queries import load_queries
from agent.store.vectors import fit_vector_table
from agent.text import one_line

if TYPE_CHECKING:
    from agent.contracts.recall import RecallQuery
    from agent.models.embeddings import Embedder
    from agent.store.connect import Connection
    from agent.store.pool import Store
    from plugins.memory.memory import Memory

QUERIES: Final = load_queries(__name__, "search.sql")
NEAREST: Final = 24
"""Memories that a search returns by meaning, and as many by words, and as many again about those whom it names."""
_BATCH: Final = 500


@dataclass(frozen=True, slots=True)
class Found:
    """A memory that fits a question."""

    memory_id: int
    version: int
    lexical: float
    cosine: float | None
    people: frozenset[str]
    """Whom it is by or about, by key as in `RecallQuery.named`."""


class MemorySearch:
    """Searches among given memories; whether they may be known is decided before."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._has_embeddings = False

    async def has_embeddings(self) -> bool:
        """Tell whether embeddings can be kept; asked of the database until they can."""
        if not self._has_embeddings:
            async with self._store.connection() as conn:
                self._has_embeddings = await conn.fetchval(QUERIES["has_embeddings"])
        return self._has_embeddings

    async def find(
        self, memories: Iterable[Memory], query: RecallQuery, terms: Mapping[str, float], limit: int = NEAREST
    ) -> Sequence[Found]:
        """Return what fits best by meaning and by words, with both scores as they are; in no order.

        Each of the words comes with how much it is what was asked for, from 0 to 1.
        """
        ids: dict[MemoryScope, list[int]] = {MemoryScope.SERVER: [], MemoryScope.PERSONAL: []}
        for memory in memories:
            ids[memory.scope].append(memory.memory_id)
        async with self._store.connection() as conn:
            rows = await conn.fetch(
                QUERIES["search"],
                ids[MemoryScope.SERVER],
                ids[MemoryScope.PERSONAL],
                any_of(terms),
                list(terms),
                query.model,
                query.vector,
                len(query.vector or ()),
                limit,
                _numbers(query.named, "account:"),
                _numbers(query.named, "user:"),
                [quoted(term) for term in terms],
                list(terms.values()),
            )
        return [
            Found(row["memory_id"], row["version"], row["lexical"], row["cosine"], _people(*tuple(row)[4:]))
            for row in rows
        ]

    async def measure(self, memories: Iterable[Memory], query: RecallQuery) -> dict[int, float]:
        """Return how near memories are to a question by meaning; none where it, or they, have no vector."""
        if query.vector is None:
            return {}
        ids = [memory.memory_id for memory in memories]
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["measure"], ids, query.model, query.vector, len(query.vector))
        return {row["memory_id"]: row["cosine"] for row in rows}

    async def reinforce(self, memory_ids: Sequence[int], turn_id: str, now: datetime) -> Sequence[str]:
        """Let memories count as fresh again, in one statement, and return the owners whose state changed."""
        async with self._store.connection() as conn:
            owners: Sequence[str] = await conn.fetchval(QUERIES["reinforce"], list(memory_ids), turn_id, now)
        return owners

    async def cut_words(self) -> int:
        """Cut the words of some memories that have none yet, and return how many those were."""
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["uncut"], _BATCH)
            for row in rows:
                words = words_to_keep(row["content"])
                for scope in MemoryScope:
                    await conn.execute(QUERIES[f"keep_{scope}_words"], row["memory_id"], row["content"], words)
        return len(rows)


@dataclass(slots=True)
class MemoryVectors:
    """Where the worker finds the memories that need a vector (`agent.embedding_worker.EmbeddingSource`)."""

    store: Store
    search: MemorySearch
    name: str = "memories"
    _fitted: int = field(default=0, init=False)

    async def pending(self, model: str, after: int, before: int, limit: int) -> Sequence[Unembedded]:
        """Return memories without a vector of this model, the highest ids first."""
        if not await self.search.has_embeddings():
            return ()
        async with self.store.connection() as conn:
            rows = await conn.fetch(QUERIES["pending"], model, after, before, limit)
        return [
            Unembedded(row["memory_id"], row["version"], text_of(row["content"], row["subject"], row["author"]))
            for row in rows
        ]

    async def keep(self, model: str, embedded: Sequence[Embedded]) -> int:
        """Keep vectors of memories that have not changed meanwhile.

        Rows that somebody is changing are waited for one by one, so that no row is waited for while others are held.
        """
        async with self.store.connection() as conn:
            dimension = len(embedded[0].vector)
            if dimension != self._fitted:
                await fit_vector_table(conn, "memory_embeddings", dimension)
                self._fitted = dimension
            kept = await _keep(conn, model, embedded)
        for each in embedded:
            if each.row_id not in kept:
                kept |= await self._keep_one(model, each)
        return len(kept)

    async def _keep_one(self, model: str, embedded: Embedded) -> set[int]:
        async with self.store.transaction() as conn:
            for scope in MemoryScope:
                if await conn.fetchval(QUERIES[f"lock_{scope}_version"], embedded.row_id, embedded.version):
                    return await _keep(conn, model, (embedded,))
        return set()

    async def count_pending(self, model: str) -> int:
        """Return how many memories have no vector of this model."""
        if not await self.search.has_embeddings():
            return 0
        async with self.store.connection() as conn:
            count: int = await conn.fetchval(QUERIES["count_pending"], model)
        return count


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Whether memories can be called back, asked anew for each turn and each save (memory.md, Decay and recall)."""

    search: MemorySearch
    embedder: Embedder | None

    async def is_available(self) -> bool:
        """Tell whether pgvector is there and there is a model; searching by words alone does not count."""
        return self.embedder is not None and await self.search.has_embeddings()

    async def model(self) -> str | None:
        """Return the name of the model by which memories can be called back; None when they cannot."""
        return self.embedder.name if self.embedder is not None and await self.is_available() else None


def text_of(content: str, subject: str, author: str) -> str:
    """Return what is embedded of a memory: what it says, and whom it is about and by."""
    told = content.replace("{user}", subject or "User")
    return with_names(told, *(one_line(name) for name in (subject, author) if name))


async def _keep(conn: Connection, model: str, embedded: Sequence[Embedded]) -> set[int]:
    rows = await conn.fetch(
        QUERIES["keep_vectors"],
        [each.row_id for each in embedded],
        [each.version for each in embedded],
        [number for each in embedded for number in each.vector],
        len(embedded[0].vector),
        model,
    )
    return {row["memory_id"] for row in rows}


def _numbers(keys: Iterable[str], kind: str) -> list[int]:
    numbers = (key.removeprefix(kind) for key in keys if key.startswith(kind))
    return [int(number) for number in numbers if number.isdecimal()]


def _people(subject: int | None, author: int | None, about_user: int | None, author_user: int | None) -> frozenset[str]:
    accounts = {f"account:{account}" for account in (subject, author) if account is not None}
    return frozenset(accounts | {f"user:{user}" for user in (about_user, author_user) if user is not None})
