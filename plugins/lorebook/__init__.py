"""Lorebooks: lore that joins the prompt when it is spoken of (docs/lorebooks.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import asyncpg

from agent.catalog import N_
from agent.hookspecs import Health, hookimpl
from agent.store.errors import StoreError
from plugins.lorebook.settings import LorebookSettings

if TYPE_CHECKING:
    import typer

    from agent.commands import Command
    from agent.contracts.context import ContextItem
    from agent.core import Core
    from agent.places import Place
    from agent.turn.values import Turn
    from plugins.lorebook.context import LoreContext, Scan
    from plugins.lorebook.library import Library
    from plugins.lorebook.repository import LoreRepository


class LorebookPlugin:
    """The plugin: lore in the prompt, and the commands that keep it."""

    name = "lorebook"
    requires = ()
    Settings = LorebookSettings
    migrations = "plugins.lorebook.migrations"

    library: Library
    """What the commands work with; there once the plugin has been started."""

    def __init__(self, settings: LorebookSettings) -> None:
        self._settings = settings

    @hookimpl
    async def start(self, core: Core) -> None:
        """Put the parts together."""
        from plugins.lorebook.context import LoreContext
        from plugins.lorebook.library import Library
        from plugins.lorebook.repository import LoreRepository
        from plugins.lorebook.rules import Defaults
        from plugins.lorebook.shelf import Shelves

        settings = self._settings
        self._core = core
        self._repository: LoreRepository = LoreRepository(core.store)
        defaults = Defaults(settings.scan_depth, settings.whole_words, settings.case_sensitive)
        shelves = Shelves(self._repository, core.clock, defaults)
        core.revisions.listen(shelves.forget)
        limit = core.settings.limits.max_message_chars
        self._context: LoreContext = LoreContext(shelves, settings, message_limit=limit)
        self.library = Library(core, self._repository, settings)

    @hookimpl
    def register_commands(self) -> Sequence[Command]:
        """Return `/lorebook …`."""
        from plugins.lorebook.commands import LorebookCommands

        return LorebookCommands(self.library, self._context).commands()

    @hookimpl
    def register_cli(self, app: typer.Typer) -> None:
        """Add `isthmus lorebook …`."""
        from plugins.lorebook.cli import app as commands

        app.add_typer(commands, name="lorebook")

    @hookimpl
    async def context_items(self, turn: Turn) -> Sequence[ContextItem]:
        """Return the lore that always holds here, and what the conversation calls up."""
        return await self._context.items(turn)

    @hookimpl
    async def count_lineage(self, server_id: int, lineage_id: int) -> dict[str, int]:
        """Tell what stays behind when a persona leaves a lineage."""
        return {N_("lorebooks"): await self._repository.count_lineage(server_id, lineage_id)}

    @hookimpl
    async def health(self) -> Sequence[Health]:
        """Tell how many lorebooks there are."""
        try:
            books, entries = await self._repository.counts()
        except (StoreError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            remedy = "check [database] url, then run: isthmus migrate"
            return (Health("lorebook", "fail", f"the lorebooks cannot be read ({type(error).__name__})", remedy),)
        return (Health("lorebook", "ok", f"{books} lorebooks, {entries} entries"),)

    @property
    def locale(self) -> str:
        """Return the language of what it says."""
        return self._core.settings.locale

    async def test(self, place: Place, text: str) -> Scan:
        """Return what a message to the default persona would call up in a place."""
        persona = await self._core.personas.default(place.server.server_id)
        return await self._context.test(place, persona.lineage_id, text)
