"""Long-term memory: what the agent learns about servers and people, and may tell again (docs/memory.md)."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import asyncpg

from agent import logs
from agent.contracts.memory import MemoryWritten
from agent.hookspecs import Health, hookimpl
from agent.store.errors import StoreError
from plugins.memory.settings import MemorySettings

if TYPE_CHECKING:
    from agent.commands import Command
    from agent.contracts.context import ContextItem
    from agent.contracts.memory import MemoryWrite
    from agent.contracts.people import Account
    from agent.core import Core
    from agent.tools import Connection, Json, Tool
    from agent.turn.values import Turn
    from plugins.memory.context import StandingContext
    from plugins.memory.repository import MemoryRepository
    from plugins.memory.toolbox import Toolbox

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

    @hookimpl
    async def start(self, core: Core) -> None:
        """Put the parts together; make the table of embeddings where pgvector has come since the migration."""
        from plugins.memory.context import StandingContext
        from plugins.memory.remembered import RememberedCache
        from plugins.memory.repository import MemoryRepository
        from plugins.memory.saving import Writing
        from plugins.memory.seen import SeenVersions
        from plugins.memory.toolbox import CHANNEL_MEMORY, SELF_TEACHING, Toolbox

        self._core = core
        self._repository: MemoryRepository = MemoryRepository(core.store)
        seen = SeenVersions()
        writing = Writing(core.store, self._repository, core.guards, core.revisions, core.clock, self._settings)
        self._toolbox: Toolbox = Toolbox(writing, core.resolver, seen, core.settings.locale)
        cache = RememberedCache(self._repository, core.clock)
        core.revisions.listen(cache.forget)
        self._context: StandingContext = StandingContext(self._repository, cache, core.guards, seen)
        for preference in (SELF_TEACHING, CHANNEL_MEMORY):
            core.preferences.register(preference)
        await self._repository.prepare_embeddings()
        self._sweeping = asyncio.create_task(self._sweep(), name="memory sweep")

    @hookimpl
    async def stop(self) -> None:
        """End the sweep."""
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
        """Return the commands that show memories."""
        from plugins.memory.commands import MemoryCommands

        return MemoryCommands(self._repository, self._core.guards).commands()

    @hookimpl
    async def context_items(self, turn: Turn) -> Sequence[ContextItem]:
        """Return the blocks of what is remembered about this server and who takes part."""
        return await self._context.items(turn)

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
    async def count_lineage(self, server_id: int, lineage_id: int) -> dict[str, int]:
        """Tell what stays behind when a persona leaves a lineage."""
        from plugins.memory.lineages import count_lineage

        return await count_lineage(self._core.store, server_id, lineage_id)

    @hookimpl
    async def health(self) -> Sequence[Health]:
        """Tell how many memories there are, and whether they can be searched by meaning."""
        try:
            server, personal = await self._repository.counts()
            has_vectors = await self._repository.prepare_embeddings()
        except (StoreError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            remedy = "check [database] url, then run: isthmus migrate"
            return (Health("memory", "fail", f"the memories cannot be read ({type(error).__name__})", remedy),)
        counts = Health("memory", "ok", f"{server} server memories, {personal} personal memories")
        if has_vectors:
            return (counts, Health("memory search", "ok", "pgvector is there"))
        text = "pgvector is missing: nothing is recalled by meaning, and no memory gives way to a new one"
        remedy = "install the PostgreSQL extension vector (CREATE EXTENSION vector), then restart"
        return (counts, Health("memory search", "warn", text, remedy))

    async def _sweep(self) -> None:
        """Remove undo copies once their time is over."""
        from plugins.memory.rules import UNDO_KEPT

        while True:
            try:
                await self._repository.sweep(self._core.clock.now() - UNDO_KEPT)
            except (StoreError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
                _log.warning("memory_sweep_failed", error=type(error).__name__)
            await asyncio.sleep(_SWEEP_PAUSE)
