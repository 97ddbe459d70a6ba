"""What a preset adds to a turn, and the order that it gives to its prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import asyncpg
from cachetools import LRUCache

from agent import logs
from agent.cache import RevisionedCache
from agent.store.errors import StoreError
from plugins.presets.rendering import item_of, names_of
from plugins.presets.repository import preset_owner
from plugins.presets.rules import arrange

if TYPE_CHECKING:
    from agent.clock import Clock
    from agent.contracts.context import ContextItem, Prompt
    from agent.turn.values import Turn
    from plugins.presets.preset import Preset
    from plugins.presets.repository import PresetRepository
    from plugins.presets.settings import PresetSettings

_log = logs.get_logger("plugins.presets")
_SERVERS: Final = 500
_SECONDS: Final = 3600.0
_TURNS: Final = 1_000
"""Turns between whose two hooks a preset is remembered; each is there for some milliseconds."""


class PresetContext:
    """The two parts of one turn agree on the preset: the order is that of the texts that were put in."""

    def __init__(self, repository: PresetRepository, clock: Clock, settings: PresetSettings) -> None:
        self._repository = repository
        self._settings = settings
        self._cache: RevisionedCache[Preset | None] = RevisionedCache(size=_SERVERS, seconds=_SECONDS, clock=clock)
        self._turns: LRUCache[str, Preset] = LRUCache(_TURNS)

    async def items(self, turn: Turn) -> tuple[ContextItem, ...]:
        """Return the texts of the preset that is in use; none when it cannot be read."""
        try:
            preset = await self._in_use(turn.place.server.server_id)
        except (StoreError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            _log.error("preset_left_out", error=type(error).__name__)
            return ()
        if preset is None:
            return ()
        self._turns[turn.turn_id] = preset
        return item_of(preset, names_of(turn.bot_name, turn.speaker.display_name))

    def arrange(self, turn: Turn, prompt: Prompt) -> Prompt | None:
        """Return the prompt in the order of the preset whose texts were put in."""
        preset = self._turns.pop(turn.turn_id, None)
        if preset is None:
            return None
        return arrange(prompt, preset, recalled_at_anchor=self._settings.recalled == "anchor")

    async def _in_use(self, server_id: int) -> Preset | None:
        revision = await self._repository.revision(server_id)
        if not revision:
            return None
        return await self._cache.get(preset_owner(server_id), revision, lambda: self._repository.in_use(server_id))

    def forget(self, owner: str) -> None:
        """Let go of what is held of an owner whose state has changed."""
        self._cache.evict(owner)
