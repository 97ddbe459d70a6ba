"""Long-term memory: what the agent learns about servers and people, and may tell again (docs/memory.md)."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import asyncpg

from agent import logs
from agent.contracts.memory import MemoryWritten
from agent.extensions.states import State
from agent.hookspecs import Health, hookimpl
from agent.store.errors import StoreError
from plugins.memory.settings import MemorySettings

if TYPE_CHECKING:
    import typer

    from agent.commands import Command
    from agent.contracts.cards import Card
    from agent.contracts.context import ContextItem
    from agent.contracts.links import UserMove
    from agent.contracts.memory import MemoryWrite
    from agent.contracts.people import Account
    from agent.contracts.recall import RecallCandidate, RecallQuery
    from agent.core import Core
    from agent.events import MessageDeleted
    from agent.places import Place
    from agent.tools import Connection, Json, Tool
    from agent.turn.values import Turn
    from plugins.memory.context import StandingContext
    from plugins.memory.recall import MemoryRecall
    from plugins.memory.repository import MemoryRepository
    from plugins.memory.scope_backfill import ScopeBackfill
    from plugins.memory.search import MemorySearch, MemoryVectors
    from plugins.memory.toolbox import Toolbox
    from plugins.memory.transfer.service import Transfers

_log = logs.get_logger("plugins.memory")
_SWEEP_PAUSE: Final = 3600.0


class MemoryPlugin:
    """The plugin: tools, standing context, commands, and what belongs to a person's rights."""

    name = "memory"
    requires = ()
    Settings = MemorySettings
    migrations = "plugins.memory.migrations"

    def __init__(self, settings: MemorySettings) -> None:
        self._settings = settings
        self._sweeping: asyncio.Task[None] | None = None
        self._scopes: ScopeBackfill | None = None

    @hookimpl
    async def start(self, core: Core) -> None:
        """Put the parts together; make the table of embeddings where pgvector has come since the migration."""
        from agent.store.frequent_words import FrequentWords
        from plugins.memory.context import Forgetting, StandingContext
        from plugins.memory.recall import MemoryRecall, RecallCollector
        from plugins.memory.remembered import RememberedCache
        from plugins.memory.repository import MemoryRepository
        from plugins.memory.saving import Writing
        from plugins.memory.scope_backfill import ScopeBackfill
        from plugins.memory.scope_rows import ScopeRows
        from plugins.memory.search import MemorySearch, MemoryVectors, Retrieval
        from plugins.memory.seen import SeenVersions
        from plugins.memory.toolbox import CHANNEL_MEMORY, MEMBER_EDITS, SELF_TEACHING, Toolbox
        from plugins.memory.transfer.service import Transfers

        self._core = core
        self._repository: MemoryRepository = MemoryRepository(core.store)
        seen = SeenVersions()
        self._search: MemorySearch = MemorySearch(core.store)
        self._vectors: MemoryVectors = MemoryVectors(core.store, self._search)
        retrieval, collector = Retrieval(self._search, core.embedder), RecallCollector()
        writing = Writing(
            core.store,
            self._repository,
            core.guards,
            core.revisions,
            core.clock,
            self._settings,
            can_recall=retrieval.is_available,
            wake=partial(core.embedding_worker.wake, self._vectors.name),
        )
        self.transfers: Transfers = Transfers(core.personas, writing, core.audit)
        self._toolbox: Toolbox = Toolbox(writing, core.resolver, seen, core.settings.locale)
        cache = RememberedCache(self._repository, core.clock)
        core.revisions.listen(cache.forget)
        forgetting = Forgetting(self._settings.decay, retrieval, collector)
        self._context: StandingContext = StandingContext(self._repository, cache, core.guards, seen, forgetting)
        frequent = [FrequentWords(core.store, core.clock, table) for table in ("server_memories", "personal_memories")]
        self._recall: MemoryRecall = MemoryRecall(self._search, collector, tuple(frequent), core.revisions)
        for preference in (SELF_TEACHING, CHANNEL_MEMORY, MEMBER_EDITS):
            core.preferences.register(preference)
        core.embedding_worker.add(self._vectors)
        self._scopes = ScopeBackfill(core.store, ScopeRows(core.store), core.revisions, core.clock)
        self._scopes.start()
        self._sweeping = asyncio.create_task(self._sweep(), name="memory sweep")

    @hookimpl
    async def stop(self) -> None:
        """End what runs in the background."""
        if self._scopes is not None:
            await self._scopes.stop()
        if self._sweeping is not None:
            self._sweeping.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._sweeping

    @hookimpl
    def register_tools(self) -> Sequence[Tool]:
        """Return the tools that save, update and delete."""
        from plugins.memory.tools import memory_tools

        return memory_tools(self._toolbox)

    @hookimpl
    def register_commands(self) -> Sequence[Command]:
        """Return the commands by which people see and change memories."""
        from plugins.memory.commands import Desk, memory_commands
        from plugins.memory.commands.rows import CommandRows
        from plugins.memory.finding import Finder
        from plugins.memory.scope_rows import ScopeRows
        from plugins.memory.transfer.commands import TransferCommands
        from plugins.memory.undo import UndoRows

        core = self._core
        desk = Desk(
            writing=self._toolbox.writing,
            rows=CommandRows(core.store),
            scopes=ScopeRows(core.store),
            undo=UndoRows(core.store),
            audit=core.audit,
            personas=core.personas,
            confirmations=core.confirmations,
            privacy=core.privacy,
            finder=Finder(self._search, core.embedder),
            hooks=core.hooks,
            people=core.people,
        )
        return (*memory_commands(desk), *TransferCommands(self.transfers).commands())

    @hookimpl
    def register_cli(self, app: typer.Typer) -> None:
        """Add `isthmus memory`."""
        from plugins.memory.cli import app as memory_app
        from plugins.memory.transfer.cli import register

        register(memory_app)
        app.add_typer(memory_app, name="memory")

    @hookimpl
    async def context_items(self, turn: Turn) -> Sequence[ContextItem]:
        """Return the blocks of what is remembered about this server and who takes part."""
        return await self._context.items(turn)

    @hookimpl
    async def recall(self, turn: Turn, query: RecallQuery) -> Sequence[RecallCandidate]:
        """Return the memories that fit what was said, dormant and active, of those that may be known here."""
        return await self._recall.candidates(turn, query)

    @hookimpl
    async def turn_finished(self, turn: Turn, recalled: Sequence[str]) -> None:
        """Let what was called back count as fresh again."""
        await self._recall.reinforce(turn, recalled)

    @hookimpl
    async def write_memory(self, write: MemoryWrite) -> MemoryWritten:
        """Save for another plugin or an importer, through the same steps as the tool."""
        from plugins.memory.plugin_writes import write_for_plugin

        return await write_for_plugin(self._toolbox.writing, write)

    @hookimpl
    async def export_person(self, account: Account) -> dict[str, Json]:
        """Return every memory about a person."""
        return await self._repository.export(account.account_id, account.user_id)

    @hookimpl
    async def erase_person(self, conn: Connection, account: Account) -> dict[str, int]:
        """Remove every memory about a person, and their name from what they wrote about others."""
        erased = await self._repository.erase(conn, account.account_id, account.user_id, self._core.clock.now())
        return erased.counts

    @hookimpl
    async def move_user(self, conn: Connection, move: UserMove) -> dict[str, int]:
        """Give the memories about a person who links or unlinks accounts their new owner."""
        from plugins.memory.moving import move_memories

        return await move_memories(conn, move)

    @hookimpl
    async def channel_seen(self, place: Place) -> None:
        """Look again for what a channel's name may mean in scopes that are not settled."""
        if self._scopes is not None:
            self._scopes.wake(place.server.server_id)

    @hookimpl
    async def message_deleted(self, event: MessageDeleted) -> Sequence[Card]:
        """Let go of what the model made of a message that is gone."""
        from plugins.memory.source import forget_source

        return await forget_source(self._toolbox.writing, event, self._core.settings.locale)

    @hookimpl
    async def count_lineage(self, server_id: int, lineage_id: int) -> dict[str, int]:
        """Tell what stays behind when a persona leaves a lineage."""
        from plugins.memory.lineages import count_lineage

        return await count_lineage(self._core.store, server_id, lineage_id)

    @hookimpl
    async def health(self) -> Sequence[Health]:
        """Tell how many memories there are, and whether they can be searched by meaning."""
        from agent.store.vectors import REMEDY

        try:
            server, personal = await self._repository.counts()
            has_vectors = await self._search.has_embeddings()
            embeddings = await self._core.embedding_worker.health(self._vectors.name)
        except (StoreError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            remedy = "check [database] url, then run: isthmus migrate"
            return (Health("memory", "fail", f"the memories cannot be read ({type(error).__name__})", remedy),)
        counted = Health("memory", "ok", f"{server} server memories, {personal} personal memories")
        counts = (counted, *self._without_privacy())
        if has_vectors:
            return (*counts, embeddings)
        text = "pgvector is missing: nothing is called back, so none is withheld and none gives way to a new one"
        return (*counts, Health("memory search", "warn", text, REMEDY))

    def _without_privacy(self) -> Sequence[Health]:
        """Warn when people have no way to see, stop or delete what is kept about them."""
        if any(status.name == "privacy" and status.state is State.STARTED for status in self._core.hooks.plugins):
            return ()
        text = "memories are kept, but nobody can see, stop or delete what is kept about them: privacy is switched off"
        return (Health("memory privacy", "warn", text, "set enabled = true in [plugins.privacy]"),)

    async def _sweep(self) -> None:
        """Remove undo copies once their time is over."""
        from plugins.memory.rules import UNDO_KEPT

        while True:
            try:
                while await self._search.cut_words():
                    pass
                await self._repository.sweep(self._core.clock.now() - UNDO_KEPT)
            except (StoreError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
                _log.warning("memory_sweep_failed", error=type(error).__name__)
            await asyncio.sleep(_SWEEP_PAUSE)
