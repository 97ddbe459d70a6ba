"""A plugin whose guards of memory raise, hang or answer nonsense, once it is told to."""

import asyncio
from typing import Any

from agent.hookspecs import hookimpl

HOW: dict[str, str] = {}
"""What each hook does; nothing: it allows."""
ASKED: list[str] = []


class BrokenGuard:
    name = "broken_guard"

    async def _answer(self, hook: str) -> Any:
        ASKED.append(hook)
        match HOW.get(hook):
            case "raises":
                raise RuntimeError("on purpose")
            case "is late":
                await asyncio.sleep(60)
            case "talks nonsense":
                return True
        return None

    @hookimpl
    async def guard_memory_read(self, read: Any) -> Any:
        return await self._answer("guard_memory_read")

    @hookimpl
    async def guard_memory_write(self, write: Any) -> Any:
        return await self._answer("guard_memory_write")

    @hookimpl
    async def recheck_memory_write(self, conn: Any, write: Any) -> Any:
        return await self._answer("recheck_memory_write")
