"""The words of memories, held while they do not change, so that a question finds what is written almost alike."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from cachetools import TTLCache

from agent.search_words import words_to_keep
from agent.similar_words import WordIndex, with_alike

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent.contracts.memory import MemoryScope
    from plugins.memory.memory import Memory

_OWNERS: Final = 128
"""Owners of whose memories the words are held: 10 MB, where each has a hundred of usual length."""
_SECONDS: Final = 600.0

type _Rows = tuple[tuple[int, int], ...]


class Vocabulary:
    """The words of the memories that are searched, an index for those of each owner."""

    def __init__(self) -> None:
        self._indexes: TTLCache[_Rows, WordIndex] = TTLCache(_OWNERS, _SECONDS)

    async def look_for(self, asked: Sequence[str], memories: Iterable[Memory]) -> dict[str, float]:
        """Return the words to look for among these memories, with how much each is what was asked for.

        What has changed is cut into words anew, one owner at a time, so that the loop is never held up.
        """
        by_owner: dict[tuple[MemoryScope, int], list[Memory]] = {}
        for memory in memories:
            by_owner.setdefault((memory.scope, memory.owner_id), []).append(memory)
        return with_alike(asked, [await self._index(rows) for rows in by_owner.values()])

    async def _index(self, memories: Sequence[Memory]) -> WordIndex:
        rows = tuple([(memory.memory_id, memory.version) for memory in memories])
        index = self._indexes.get(rows)
        if index is None:
            index = WordIndex(word for memory in memories for word in words_to_keep(memory.content))
            self._indexes[rows] = index
            await asyncio.sleep(0)
        return index
