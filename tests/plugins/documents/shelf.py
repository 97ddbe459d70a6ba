"""Servers and people with documents, in the real database."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Any

from agent.contracts.recall import RecallQuery
from agent.embedding_worker import Embedded
from agent.places import Audience
from agent.search_words import terms, words_to_keep
from agent.store.pool import Store
from plugins.documents.document import Chunk, Document, ReadFile, ReadPart, Scope, Viewer
from plugins.documents.kinds import Kind
from plugins.documents.repository import DocumentRepository
from plugins.documents.vectors import DocumentVectors

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
_numbers = count(1)


def as_read(*contents: str, title: str = "Title", heading: str = "") -> ReadFile:
    parts = tuple(ReadPart(heading, content, " ".join(words_to_keep(title, heading, content))) for content in contents)
    return ReadFile(Kind.TEXT, None, parts)


def scope(server_id: int, **changes: Any) -> Scope:
    values: dict[str, Any] = {
        "lineage_id": None,
        "channel_ids": (),
        "audience": Audience.SERVER,
        "source_platform": "console",
        "source_channel_id": "general",
    }
    return Scope(server_id, **{**values, **changes})


@dataclass(frozen=True, slots=True)
class Shelf:
    store: Store
    repository: DocumentRepository

    @property
    def vectors(self) -> DocumentVectors:
        return DocumentVectors(self.store, self.repository)

    async def server(self) -> int:
        number = await self.value(
            "INSERT INTO servers (platform, external_id, kind, name, created_at) "
            "VALUES ('console', $1, 'guild', 'home', $2) RETURNING server_id",
            f"server{next(_numbers)}",
            NOW,
        )
        assert isinstance(number, int)
        return number

    async def account(self, name: str = "Ana") -> int:
        number = await self.value(
            "INSERT INTO accounts (platform, external_id, kind, display_name, created_at, last_seen_at) "
            "VALUES ('console', $1, 'console_user', $2, $3, $3) RETURNING account_id",
            f"person{next(_numbers)}",
            name,
            NOW,
        )
        assert isinstance(number, int)
        return number

    async def add(self, where: int | Scope, *contents: str, **more: Any) -> Document:
        digest = hashlib.sha256(repr((contents, more.pop("file", next(_numbers)))).encode()).digest()
        title, uploader = more.pop("title", "Title"), more.pop("uploader", None)
        read = as_read(*contents, title=title, **more)
        place = where if isinstance(where, Scope) else scope(where)
        document = await self.repository.add(read, title, place, digest=digest, size=1, uploader=uploader, now=NOW)
        await self.repository.learn_words(document.document_id)
        return document

    async def chunks(self, document: Document) -> Sequence[Chunk]:
        return await self.repository.chunks(document.document_id, 1_000)

    async def embed(self, document: Document, *vectors: Sequence[float], model: str = "m") -> None:
        given = zip(await self.chunks(document), vectors, strict=True)
        embedded = [Embedded(chunk.chunk_id, chunk.version, vector) for chunk, vector in given]
        assert await self.vectors.keep(model, embedded) == len(embedded)

    async def find(
        self, viewer: Viewer | int, text: str, vector: Sequence[float] | None = None, model: str = "m", limit: int = 24
    ) -> dict[str, tuple[float, float | None]]:
        """Return both scores by content."""
        if isinstance(viewer, int):
            viewer = Viewer(viewer, "console", 1, ("general",), in_scope_only=True)
        query = RecallQuery(text, None if vector is None else tuple(vector), None if vector is None else model)
        found = await self.repository.search(viewer, query, terms(text), limit)
        return {each.chunk.content: (each.lexical, each.cosine) for each in found}

    async def value(self, query: str, *values: Any) -> Any:
        async with self.store.connection() as conn:
            return await conn.fetchval(query, *values)
