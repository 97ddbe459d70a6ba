"""All SQL of the documents plugin: rows in, frozen values out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

import asyncpg

from agent.search_words import words_to_keep
from agent.store.queries import load_queries
from agent.store.vectors import TRIGRAMS, has_extension, prepare_vector_table
from plugins.documents.document import (
    Chunk,
    Document,
    Found,
    ReadFile,
    Scope,
    Viewer,
    chunk_from_row,
    document_from_row,
)
from plugins.documents.refusals import Refused, Why

if TYPE_CHECKING:
    from agent.contracts.recall import RecallQuery
    from agent.store.connect import Connection
    from agent.store.pool import Store
    from agent.tools import Json
    from plugins.documents.settings import DocumentsSettings

QUERIES = load_queries(__name__)

VECTOR_TABLE: Final = ("document_vectors", "document_chunks", "chunk_id")
NEAREST: Final = 24
"""Parts that a search returns by meaning, and as many by words."""
_BATCH: Final = 200
"""Parts of one statement."""


class DocumentRepository:
    """Reads and writes documents. What somebody may see is decided by the database, for each statement anew."""

    def __init__(self, store: Store, settings: DocumentsSettings) -> None:
        self._store = store
        self._settings = settings

    async def add(
        self, read: ReadFile, title: str, scope: Scope, *, digest: bytes, size: int, uploader: int | None, now: datetime
    ) -> Document:
        """Keep a document, wholly or not at all.

        Raises:
            Refused: the server has it already, or has no room for it.
        """
        async with self._store.transaction() as conn:
            await conn.execute(QUERIES["lock_server"], scope.server_id)
            await self._make_sure_of_room(conn, len(read.parts), scope, digest)
            document_id: int = await conn.fetchval(
                QUERIES["add_document"],
                scope.server_id,
                scope.lineage_id,
                title,
                read.kind,
                scope.channel_ids,
                scope.audience,
                scope.source_platform,
                scope.source_channel_id,
                digest,
                size,
                read.pages,
                len(read.parts),
                now,
            )
            for begin in range(0, len(read.parts), _BATCH):
                parts = read.parts[begin : begin + _BATCH]
                await conn.execute(
                    QUERIES["add_chunks"],
                    document_id,
                    list(range(begin + 1, begin + 1 + len(parts))),
                    [part.heading for part in parts],
                    [part.content for part in parts],
                    [part.words for part in parts],
                    now,
                )
            if uploader is not None:
                await conn.execute(QUERIES["set_uploader"], document_id, uploader, now)
        return Document(document_id, title, read.kind, scope, len(read.parts), read.pages, size, now)

    async def _make_sure_of_room(self, conn: Connection, parts: int, scope: Scope, digest: bytes) -> None:
        same = await conn.fetchval(
            QUERIES["find_same"], scope.server_id, digest, scope.lineage_id, scope.audience, scope.source_channel_id
        )
        if same is not None:
            raise Refused(Why.KNOWN, id=same)
        count = await conn.fetchrow(QUERIES["count_of_server"], scope.server_id)
        assert count is not None  # noqa: S101  # counts come as one row
        if count["documents"] >= self._settings.max_documents:
            raise Refused(Why.TOO_MANY_DOCUMENTS, limit=self._settings.max_documents)
        if count["parts"] + parts > self._settings.max_parts:
            raise Refused(Why.TOO_MANY_PARTS, limit=self._settings.max_parts)

    async def documents(self, viewer: Viewer) -> Sequence[Document]:
        """Return the documents that somebody may see, oldest first."""
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["list_documents"], *_seen_by(viewer))
        return [document_from_row(row) for row in rows]

    async def document(self, viewer: Viewer, some_id: int) -> Document | None:
        """Return the document that bears an id or has a part that does, if it may be seen."""
        async with self._store.connection() as conn:
            row = await conn.fetchrow(QUERIES["read_document"], *_seen_by(viewer), some_id)
        return None if row is None else document_from_row(row)

    async def chunks(self, document_id: int, limit: int, offset: int = 0) -> Sequence[Chunk]:
        """Return some parts of a document in their order."""
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["list_chunks"], document_id, limit, offset)
        return [chunk_from_row(row) for row in rows]

    async def chunk(self, chunk_id: int) -> Chunk | None:
        """Return a part; whether it may be seen is asked of `document`."""
        async with self._store.connection() as conn:
            row = await conn.fetchrow(QUERIES["read_chunk"], chunk_id)
        return None if row is None else chunk_from_row(row)

    async def edit_chunk(self, document: Document, chunk: Chunk, content: str, now: datetime) -> int | None:
        """Give a part another text, and return its new version; None when it has changed or gone meanwhile."""
        words = words_to_keep(document.title, chunk.heading, content)
        async with self._store.transaction() as conn:
            version: int | None = await conn.fetchval(
                QUERIES["edit_chunk"], chunk.chunk_id, chunk.version, content, words, now
            )
            if await self.has_vectors():
                await conn.execute(QUERIES["drop_vectors"], [chunk.chunk_id])
        return version

    async def rename(self, document: Document, title: str, now: datetime) -> None:
        """Give a document another title, by which its parts are found too."""
        async with self._store.transaction() as conn:
            await conn.execute(QUERIES["rename_document"], document.document_id, title, now)
            ordinal = 0
            while rows := await conn.fetch(QUERIES["chunk_texts"], document.document_id, ordinal, _BATCH // 4):
                ids = [row["chunk_id"] for row in rows]
                words = [" ".join(words_to_keep(title, row["heading"], row["content"])) for row in rows]
                await conn.execute(QUERIES["renew_words"], ids, words)
                ordinal = rows[-1]["ordinal"]

    async def set_scope(self, document: Document, scope: Scope, now: datetime) -> None:
        """Say anew where a document is known; the server and the source stay.

        Raises:
            Refused: the same file is known there already.
        """
        values = (document.document_id, scope.lineage_id, scope.channel_ids, scope.audience, now)
        async with self._store.connection() as conn:
            try:
                await conn.execute(QUERIES["set_scope"], *values)
            except asyncpg.UniqueViolationError:
                raise Refused(Why.SAME_THERE) from None

    async def remove_document(self, document_id: int) -> bool:
        """Remove a document; tell whether it was there."""
        async with self._store.connection() as conn:
            return await conn.fetchval(QUERIES["remove_document"], document_id) is not None

    async def remove_chunk(self, chunk_id: int, now: datetime) -> str | None:
        """Remove a part and return its text; None when it is gone already."""
        async with self._store.connection() as conn:
            content: str | None = await conn.fetchval(QUERIES["remove_chunk"], chunk_id, now)
        return content

    async def search(
        self, viewer: Viewer, query: RecallQuery, terms: Sequence[str], limit: int = NEAREST
    ) -> Sequence[Found]:
        """Return the parts that fit best by meaning and by words, with both scores as they are."""
        has_vectors = query.vector is not None and query.model is not None and await self.has_vectors()
        async with self._store.connection() as conn:
            if has_vectors and query.vector is not None:
                vector = (query.model, query.vector, len(query.vector))
                rows = await conn.fetch(QUERIES["search"], *_seen_by(viewer), terms, *vector, limit)
            else:
                rows = await conn.fetch(QUERIES["search_words"], *_seen_by(viewer), terms, limit)
        return [
            Found(chunk_from_row(row), row["title"], row["lexical"], row["cosine"], row["updated_at"]) for row in rows
        ]

    # Vectors -------------------------------------------------------------------------------------

    _has_vectors: bool | None = None

    async def has_vectors(self) -> bool:
        """Tell whether vectors can be kept; asked of the database until they can."""
        if not self._has_vectors:
            async with self._store.connection() as conn:
                self._has_vectors = await prepare_vector_table(conn, *VECTOR_TABLE)
        return self._has_vectors

    # What belongs to people, and to the operator -------------------------------------------------

    async def uploaded_by(self, account_id: int) -> list[Json]:
        """Return what an account has uploaded; moments as ISO 8601."""
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["uploaded_by"], account_id)
        return [{**row, "created_at": row["created_at"].isoformat()} for row in rows]

    async def forget_uploader(self, conn: Connection, account_id: int) -> int:
        """Take an account's name off what it has uploaded; return how many documents that were."""
        return int((await conn.execute(QUERIES["forget_uploader"], account_id)).split()[-1])

    async def prepare_vocabulary(self) -> bool:
        """Tell whether words that are written almost alike can be found."""
        async with self._store.connection() as conn:
            return await has_extension(conn, TRIGRAMS)

    async def learn_words(self, document_id: int) -> None:
        """Let questions resemble the words of a document; after its commit, so that nobody waits for it."""
        async with self._store.connection() as conn:
            await conn.execute(QUERIES["learn_words"], document_id)

    async def analyze(self) -> None:
        """Let PostgreSQL learn which words are frequent."""
        async with self._store.connection() as conn:
            await conn.execute(QUERIES["analyze"])

    async def counts(self) -> tuple[int, int]:
        """Return the numbers of documents and of parts."""
        async with self._store.connection() as conn:
            row = await conn.fetchrow(QUERIES["count_all"])
        assert row is not None  # noqa: S101  # counts come as one row
        return row["documents"], row["parts"]


def _seen_by(viewer: Viewer) -> tuple[int, str, list[str] | None, int | None, bool]:
    channels = None if viewer.channels is None else list(viewer.channels)
    return viewer.server_id, viewer.platform, channels, viewer.lineage_id, viewer.in_scope_only
