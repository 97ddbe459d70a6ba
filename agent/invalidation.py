"""After a commit: what is cached of an owner is dropped here at once, and in other processes soon."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from agent.store.revisions import RevisionHints

if TYPE_CHECKING:
    from agent.store.pool import Store

type Listener = Callable[[str], None]
"""Called with the key of an owner (`server:12`) whose state has changed; neither waits nor raises."""


class Invalidation:
    """Nothing depends on it: a cache is true by the owner's revision, which each turn reads (memory.md, Caches)."""

    def __init__(self, store: Store) -> None:
        self._listeners: list[Listener] = []
        self._hints = RevisionHints(store, self._drop)

    def listen(self, listener: Listener) -> None:
        """Have a cache told of every change, made here or elsewhere."""
        self._listeners.append(listener)

    def announce(self, *owners: str) -> None:
        """Tell of owners whose change is committed; returns at once and never fails."""
        for owner in owners:
            self._drop(owner)
        self._hints.announce(owners)

    def start(self) -> None:
        """Begin to hear from other processes."""
        self._hints.start()

    async def stop(self) -> None:
        """Hear no more."""
        await self._hints.stop()

    def _drop(self, owner: str) -> None:
        for listener in self._listeners:
            listener(owner)
