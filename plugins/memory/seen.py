"""What a turn has been shown: which version of each memory, and in which words.

An update that is based on an older version is refused, and a save of what was shown adds nothing.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from cachetools import LRUCache

from agent.contracts.memory import MemoryScope
from plugins.memory.content import content_key

if TYPE_CHECKING:
    from agent.contracts.memory import MemoryWrite
    from plugins.memory.memory import Memory
    from plugins.memory.recall import Admitted

_TURNS: Final = 512
"""Turns that are remembered; many more than run at once."""


class SeenVersions:
    """What the running turns have been shown. A turn lives in one process, so this need not outlive it."""

    def __init__(self) -> None:
        self._shown: LRUCache[str, tuple[Admitted, ...]] = LRUCache(_TURNS)
        self._noted: LRUCache[str, dict[int, int]] = LRUCache(_TURNS)

    def show(self, turn_id: str, *admitted: Admitted) -> None:
        """Note what stands in the prompt of a turn."""
        self._shown[turn_id] = admitted
        self._noted.pop(turn_id, None)

    def note(self, turn_id: str, memory: Memory, version: int | None = None) -> None:
        """Note that a turn has meanwhile been told of another version: its own update's, or a refusal's."""
        self._noted.setdefault(turn_id, {})[memory.memory_id] = version or memory.version

    def version(self, turn_id: str, memory: Memory) -> int | None:
        """Return the version that a turn knows; None when it has not been shown the memory."""
        noted = self._noted.get(turn_id, {}).get(memory.memory_id)
        if noted is not None:
            return noted
        shown = chain.from_iterable(each.memories for each in self._shown.get(turn_id, ()))
        return next((one.version for one in shown if one.memory_id == memory.memory_id), None)

    def saying(self, turn_id: str, write: MemoryWrite) -> Memory | None:
        """Return what a turn was shown of the same owner in the same words, names in place of placeholders.

        The same words about somebody else are another fact; about nobody in particular they are the memory's own.
        """
        key = content_key(write.content)
        for each in self._shown.get(turn_id, ()):
            for memory, entry in zip(each.memories, each.entries, strict=True):
                if _may_be_same(memory, write) and content_key(entry.text) == key:
                    return memory
        return None


def _may_be_same(memory: Memory, write: MemoryWrite) -> bool:
    is_personal = write.scope is MemoryScope.PERSONAL
    if memory.scope is not write.scope or memory.owner_id != (write.user_id if is_personal else write.server_id):
        return False
    if is_personal or (write.subject_account_id is None and write.subject_user_id is None):
        return True
    if write.subject_user_id is not None:
        return memory.subject_user_id == write.subject_user_id
    return memory.subject_account_id == write.subject_account_id
