"""Where the worker finds the parts that need a vector, and brings the vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent.embedding_worker import Embedded, Unembedded
from agent.store.vectors import fit_vector_table
from plugins.documents.repository import QUERIES, VECTOR_TABLE

if TYPE_CHECKING:
    from agent.store.pool import Store
    from plugins.documents.repository import DocumentRepository


class DocumentVectors:
    """The source of the documents plugin (`agent.embedding_worker.EmbeddingSource`)."""

    name = "documents"

    def __init__(self, store: Store, repository: DocumentRepository) -> None:
        self._store = store
        self._repository = repository
        self._fitted = 0

    async def pending(self, model: str, after: int, before: int, limit: int) -> Sequence[Unembedded]:
        """Return parts without a vector of this model, the highest ids first."""
        if not await self._repository.has_vectors():
            return ()
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["pending"], model, after, before, limit)
        return [Unembedded(row["chunk_id"], row["version"], text_of(row["heading"], row["content"])) for row in rows]

    async def keep(self, model: str, embedded: Sequence[Embedded]) -> int:
        """Keep vectors of parts that have not changed meanwhile."""
        dimension = len(embedded[0].vector)
        async with self._store.connection() as conn:
            if dimension != self._fitted:
                await fit_vector_table(conn, VECTOR_TABLE[0], dimension)
                self._fitted = dimension
            kept: int = await conn.fetchval(
                QUERIES["keep_vectors"],
                [each.row_id for each in embedded],
                [each.version for each in embedded],
                [number for each in embedded for number in each.vector],
                dimension,
                model,
            )
        return kept

    async def count_pending(self, model: str) -> int:
        """Return how many parts have no vector of this model."""
        if not await self._repository.has_vectors():
            return 0
        async with self._store.connection() as conn:
            count: int = await conn.fetchval(QUERIES["count_pending"], model)
        return count


def text_of(heading: str, content: str) -> str:
    """Return what is embedded of a part; the title, which all parts share, would make them alike."""
    return f"{heading}\n{content}" if heading else content
