"""One path for every change of a memory that is there, whoever asks: guards, lock, guards again, look again, change."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plugins.memory.saving import owner_of

if TYPE_CHECKING:
    from agent.contracts.memory import MemoryWrite
    from agent.contracts.people import Denial
    from agent.tools import Connection
    from plugins.memory.memory import Memory
    from plugins.memory.repository import Actor
    from plugins.memory.saving import Writing

type Read = Callable[[Connection], Awaitable[Memory | None]]
"""Reads the memory again under the lock; None when whoever asks may not know it any more."""
type Apply = Callable[[Connection, Memory], Awaitable[int | None]]
"""Changes it and binds what goes with it; returns its new version, None when it is gone."""
type Bind = Callable[[Connection, str], Awaitable[None]]
"""Binds to a deletion what goes with it; gets the removed text."""


@dataclass(frozen=True, slots=True)
class Amended:
    """What became of a change: at most one of a denial, a conflict, and a new version."""

    denial: Denial | None = None
    present: Memory | None = None
    """The memory as it was found under the lock; None when there is none."""
    version: int | None = None
    """The new version; None when nothing was changed."""

    @property
    def is_conflict(self) -> bool:
        """Tell whether somebody has changed the memory in between, so that it was left as it is."""
        return self.present is not None and self.version is None


async def amend(writing: Writing, write: MemoryWrite, seen: int | None, read: Read, apply: Apply) -> Amended:
    """Change a memory; `seen` is the version that the change is based on, None for whichever is there."""
    if (denial := await writing.guards.check_write(write)) is not None:
        return Amended(denial)
    async with writing.locks.hold(owner_of(write)), writing.store.transaction() as conn:
        if (denial := await writing.guards.recheck(conn, write)) is not None:
            return Amended(denial)
        present = await read(conn)
        if present is None:
            return Amended()
        if seen is not None and present.version != seen:
            return Amended(present=present)
        version = await apply(conn, present)
        if version is None:
            return Amended()
    writing.committed(owner_of(write), present.memory_id)
    return Amended(present=present, version=version)


async def delete(writing: Writing, write: MemoryWrite, memory: Memory, actor: Actor, bind: Bind) -> str | None:
    """Delete a memory and return its text; None when it is gone already. No guard is asked: deletions always pass."""
    async with writing.locks.hold(owner_of(write)), writing.store.transaction() as conn:
        await writing.guards.recheck(conn, write)  # takes the locks
        forgotten = await writing.repository.remove(conn, memory, actor, writing.clock.now())
        if forgotten is None:
            return None
        await bind(conn, forgotten)
    writing.committed(owner_of(write))
    return forgotten
