"""Presets: the order of the prompt, and texts of its own, as in SillyTavern (docs/presets.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import asyncpg

from agent.hookspecs import Health, hookimpl
from agent.store.errors import StoreError
from plugins.presets.settings import PresetSettings

if TYPE_CHECKING:
    import typer

    from agent.commands import Command
    from agent.contracts.context import ContextItem, Prompt
    from agent.core import Core
    from agent.turn.values import Turn
    from plugins.presets.context import PresetContext
    from plugins.presets.library import Presets
    from plugins.presets.repository import PresetRepository


class PresetsPlugin:
    """The plugin: the texts and the order of a preset, and the commands that choose one."""

    name = "presets"
    requires = ()
    Settings = PresetSettings
    migrations = "plugins.presets.migrations"

    presets: Presets
    """What the commands work with; there once the plugin has been started."""

    def __init__(self, settings: PresetSettings) -> None:
        self._settings = settings

    @hookimpl
    async def start(self, core: Core) -> None:
        """Put the parts together."""
        from plugins.presets.context import PresetContext
        from plugins.presets.library import Presets
        from plugins.presets.repository import PresetRepository

        self._repository: PresetRepository = PresetRepository(core.store)
        self._context: PresetContext = PresetContext(self._repository, core.clock, self._settings)
        core.revisions.listen(self._context.forget)
        self.presets = Presets(core, self._repository, self._settings)

    @hookimpl
    def register_commands(self) -> Sequence[Command]:
        """Return `/preset …`."""
        from plugins.presets.commands import PresetCommands

        return PresetCommands(self.presets).commands()

    @hookimpl
    def register_cli(self, app: typer.Typer) -> None:
        """Add `isthmus preset …`."""
        from plugins.presets.cli import app as commands

        app.add_typer(commands, name="preset")

    @hookimpl
    async def context_items(self, turn: Turn) -> Sequence[ContextItem]:
        """Return the texts of the preset that is in use."""
        return await self._context.items(turn)

    @hookimpl
    async def arrange_prompt(self, turn: Turn, prompt: Prompt) -> Prompt | None:
        """Return the prompt in the order of that preset."""
        return self._context.arrange(turn, prompt)

    @hookimpl
    async def health(self) -> Sequence[Health]:
        """Tell how many presets there are."""
        try:
            presets, used = await self._repository.counts()
        except (StoreError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            remedy = "check [database] url, then run: isthmus migrate"
            return (Health("presets", "fail", f"the presets cannot be read ({type(error).__name__})", remedy),)
        return (Health("presets", "ok", f"{presets} presets, {used} in use"),)
