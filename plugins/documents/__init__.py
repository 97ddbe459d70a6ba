"""Documents: files that the agent may look things up in, a server's own (docs/documents.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import asyncpg

from agent.hookspecs import Health, hookimpl
from agent.store.errors import StoreError
from plugins.documents.settings import DocumentsSettings

if TYPE_CHECKING:
    import typer

    from agent.commands import Command
    from agent.contracts.people import Account
    from agent.contracts.recall import RecallCandidate, RecallQuery
    from agent.core import Core
    from agent.tools import Connection, Json
    from agent.turn.values import Turn
    from plugins.documents.library import Library


class DocumentsPlugin:
    """The plugin: what is called back from documents, their commands, and what belongs to a person's rights."""

    name = "documents"
    requires = ()
    Settings = DocumentsSettings
    migrations = "plugins.documents.migrations"

    def __init__(self, settings: DocumentsSettings) -> None:
        self._settings = settings

    @hookimpl
    async def start(self, core: Core) -> None:
        """Put the parts together; what has no vector yet is embedded from now on."""
        from plugins.documents.library import Library

        self._core = core
        self._library: Library = Library(core, self._settings)
        await self._library.repository.prepare_vocabulary()
        core.embedding_worker.add(self._library.vectors)

    @hookimpl
    def register_commands(self) -> Sequence[Command]:
        """Return the commands of `/documents`."""
        from plugins.documents.commands import DocumentCommands

        return DocumentCommands(self._library, self._core.personas).commands()

    @hookimpl
    def register_cli(self, app: typer.Typer) -> None:
        """Add `isthmus documents`."""
        from plugins.documents.cli import DocumentsCommandLine

        app.add_typer(DocumentsCommandLine(self._settings).app(), name="documents")

    @hookimpl
    async def recall(self, turn: Turn, query: RecallQuery) -> Sequence[RecallCandidate]:
        """Return the parts that fit what was said, of the documents that are known in this place."""
        from plugins.documents.rendering import candidate
        from plugins.documents.viewing import viewer_of_turn

        if turn.impersonating is not None:
            return ()
        return [candidate(found) for found in await self._library.find(viewer_of_turn(turn), query)]

    @hookimpl
    async def export_person(self, account: Account) -> dict[str, Json]:
        """Return which documents a person has uploaded; what they say is the server's."""
        return {"documents": await self._library.repository.uploaded_by(account.account_id)}

    @hookimpl
    async def erase_person(self, conn: Connection, account: Account) -> dict[str, int]:
        """Take a person's name off the documents that they have uploaded."""
        return {"document_uploads": await self._library.repository.forget_uploader(conn, account.account_id)}

    @hookimpl
    async def health(self) -> Sequence[Health]:
        """Tell how many documents there are, and whether they can be searched by meaning."""
        from agent.store.vectors import REMEDY, TRIGRAMS_REMEDY

        repository = self._library.repository
        try:
            documents, parts = await repository.counts()
            lines = [Health("documents", "ok", f"{documents} documents of {parts} parts")]
            if await repository.has_vectors():
                lines.append(await self._core.embedding_worker.health(self._library.vectors.name))
            else:
                text = "pgvector is missing: only words are searched"
                lines.append(Health("documents search", "warn", text, REMEDY))
            if not await repository.prepare_vocabulary():
                text = "pg_trgm is missing: words are found only as they are written"
                lines.append(Health("documents spelling", "warn", text, TRIGRAMS_REMEDY))
        except (StoreError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            remedy = "check [database] url, then run: isthmus migrate"
            return (Health("documents", "fail", f"they cannot be read ({type(error).__name__})", remedy),)
        return lines
