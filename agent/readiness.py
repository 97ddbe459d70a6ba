"""What `/readyz` asks: whether the agent can do its work just now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.store.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agent.core import Core

type Check = Callable[[], Awaitable[str | None]]
"""Returns what is wrong, in a few words; None when nothing is."""


def readiness(core: Core) -> dict[str, Check]:
    """Return what is asked, by name."""

    async def database() -> str | None:
        try:
            async with core.store.connection() as conn:
                await conn.fetchval("SELECT 1")
        except StoreError:
            return "the database does not answer"
        return None

    async def plugins() -> str | None:
        lines = [line for lines in await core.hooks.collect("health") for line in lines]
        ill = [line.name for line in lines if line.state == "fail"]
        return f"not well: {', '.join(ill)}" if ill else None

    return {"database": database, "plugins": plugins}
