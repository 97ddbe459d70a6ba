"""Which version of a memory a turn has been shown: an update that is based on an older one is refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from cachetools import LRUCache

if TYPE_CHECKING:
    from plugins.memory.memory import Memory

_TURNS: Final = 512
"""Turns that are remembered; many more than run at once."""


class SeenVersions:
    """What the running turns have been shown. A turn lives in one process, so this need not outlive it."""

    def __init__(self) -> None:
        self._shown: LRUCache[str, tuple[Memory, ...]] = LRUCache(_TURNS)
        self._noted: LRUCache[str, dict[int, int]] = LRUCache(_TURNS)

    def show(self, turn_id: str, memories: Iterable[Memory]) -> None:
        """Note what stands in the prompt of a turn."""
        self._shown[turn_id] = tuple(memories)
        self._noted.pop(turn_id, None)

    def note(self, turn_id: str, memory: Memory, version: int | None = None) -> None:
        """Note that a turn has meanwhile been told of another version: its own update's, or a refusal's."""
        self._noted.setdefault(turn_id, {})[memory.memory_id] = version or memory.version

    def version(self, turn_id: str, memory: Memory) -> int | None:
        """Return the version that a turn knows; None when it has not been shown the memory."""
        noted = self._noted.get(turn_id, {}).get(memory.memory_id)
        if noted is not None:
            return noted
        shown = self._shown.get(turn_id, ())
        return next((one.version for one in shown if one.memory_id == memory.memory_id), None)
