"""What can be done with documents, by whoever may: the commands of chats and of the command line share it."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

import asyncpg

from agent import logs
from agent.identity.naming import naming
from agent.search_words import terms
from agent.store.errors import StoreError
from agent.store.frequent_words import FrequentWords
from agent.text import clean, clip, one_line
from agent.turn.recall import make_query, rank
from plugins.documents.document import Chunk, Document, Found, Scope, Viewer
from plugins.documents.reader import Reader
from plugins.documents.rendering import candidate
from plugins.documents.repository import DocumentRepository
from plugins.documents.vectors import DocumentVectors

if TYPE_CHECKING:
    from agent.contracts.recall import RecallQuery
    from agent.core import Core
    from plugins.documents.settings import DocumentsSettings

_log = logs.get_logger("plugins.documents")

LONGEST_TITLE: Final = 200
MANY_PARTS: Final = 100
"""After so many additions PostgreSQL's statistics say too little."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that is to become a document."""

    name: str
    """Of the file."""
    content: bytes
    title: str | None
    scope: Scope
    uploader: int | None
    """The account; None for the operator."""


class Library:
    """The documents of every server."""

    def __init__(self, core: Core, settings: DocumentsSettings) -> None:
        self._core = core
        self.settings = settings
        self.repository = DocumentRepository(core.store, settings)
        self.vectors = DocumentVectors(core.store, self.repository)
        self._reader = Reader(settings)
        self._frequent = FrequentWords(core.store, core.clock, "document_chunks")

    async def add(self, upload: Upload) -> Document:
        """Read a file and keep it; its vectors come later.

        Raises:
            Refused: it is not taken.
        """
        title = title_of(upload)
        read = await self._reader.read(upload.name, title, upload.content)
        digest = await asyncio.to_thread(hashlib.sha256, upload.content)
        document = await self.repository.add(
            read,
            title,
            upload.scope,
            digest=digest.digest(),
            size=len(upload.content),
            uploader=upload.uploader,
            now=self._core.clock.now(),
        )
        await self._learn(document)
        self._wake(document.document_id)
        return document

    async def edit(self, document: Document, chunk: Chunk, content: str) -> bool:
        """Give a part another text; tell whether it was still as it had been read."""
        version = await self.repository.edit_chunk(document, chunk, clean(content).strip(), self._core.clock.now())
        await self._learn(document)
        self._wake(chunk.chunk_id)
        return version is not None

    async def rename(self, document: Document, title: str) -> str:
        """Give a document another title, and return it as it is kept."""
        kept = one_title(title) or document.title
        await self.repository.rename(document, kept, self._core.clock.now())
        await self._learn(document)
        self._wake(document.document_id)  # the worker leaves out what is locked
        return kept

    async def set_scope(self, document: Document, scope: Scope) -> Document:
        """Say anew where a document is known.

        Raises:
            Refused: the same file is known there already.
        """
        await self.repository.set_scope(document, scope, self._core.clock.now())
        return replace(document, scope=scope)

    async def remove(self, document: Document) -> bool:
        """Remove a document; tell whether it was there."""
        return await self.repository.remove_document(document.document_id)

    async def remove_chunk(self, chunk: Chunk) -> str | None:
        """Remove a part, and return its text."""
        return await self.repository.remove_chunk(chunk.chunk_id, self._core.clock.now())

    async def find(self, viewer: Viewer, query: RecallQuery) -> Sequence[Found]:
        """Return what fits a question best by meaning and by words, in no order."""
        if not query.text.strip():
            return ()
        return await self.repository.search(viewer, query, terms(query.text, await self._frequent.get()))

    async def search(self, viewer: Viewer, text: str, most: int) -> Sequence[Found]:
        """Return what fits a question best, best first: the order in which a turn would call it back."""
        query = await make_query(text.strip(), naming(text, ()), self._core.embedder)
        found = {f"document_chunk:{each.chunk.chunk_id}": each for each in await self.find(viewer, query)}
        embedder = self._core.embedder
        threshold = 1.0 if embedder is None else embedder.threshold
        ranked = rank([candidate(each) for each in found.values()], query, threshold=threshold, most=most)
        return [found[each.identity] for each in ranked]

    def _wake(self, row_id: int) -> None:
        self._core.embedding_worker.wake(self.vectors.name, row_id)

    async def _learn(self, document: Document) -> None:
        """Let the search know of new words; a failure costs only a worse search."""
        try:
            await self.repository.learn_words(document.document_id)
            if document.parts >= MANY_PARTS:
                await self.repository.analyze()
        except (StoreError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            _log.warning("words_not_learned", error=type(error).__name__)
        self._frequent.expire()


def title_of(upload: Upload) -> str:
    """Return the title that was given, else the file's name without its ending."""
    return one_title(upload.title or "") or one_title(PurePath(upload.name).stem) or "document"


def one_title(text: str) -> str:
    """Return a title as it is kept: one line, without `#` before it, not too long."""
    return clip(" ".join(one_line(clean(text)).split()).lstrip("#").strip(), LONGEST_TITLE)
