"""The real nextcord against the loopback server."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import nextcord
from nextcord.asset import Asset
from nextcord.http import Route

from tests.servers.discord.loopback import LoopbackDiscord


class Client(nextcord.Client):
    """Writes down what it hears."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("guild_ready_timeout", 0.05)
        super().__init__(**options)
        self.heard: list[tuple[str, tuple[Any, ...]]] = []
        self.changed = asyncio.Event()
        self.failed: list[BaseException] = []

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Identify at once; nextcord waits five seconds, as Discord wants it."""

    def dispatch(self, event: str, *args: Any, **kwargs: Any) -> None:
        self.heard.append((event, args))
        self.changed.set()
        super().dispatch(event, *args, **kwargs)

    async def on_application_command_error(self, interaction: Any, exception: BaseException) -> None:
        self.failed.append(exception)

    def those(self, event: str) -> list[Any]:
        """The first arguments of all events of that name."""
        return [args[0] if args else None for name, args in self.heard if name == event]

    async def hears(self, event: str, count: int = 1, timeout: float = 5.0) -> Any:
        """The first argument of the event of that name, of the last when there are to be several."""
        async with asyncio.timeout(timeout):
            while len(self.those(event)) < count:
                self.changed.clear()
                await self.changed.wait()
        return self.those(event)[count - 1]


class Sharded(nextcord.AutoShardedClient, Client):
    pass


def usual() -> nextcord.Intents:
    intents = nextcord.Intents.default()
    intents.members = intents.message_content = True
    return intents


@asynccontextmanager
async def redirected(discord: LoopbackDiscord) -> AsyncIterator[None]:
    """Let nextcord ask the loopback server."""
    before, assets = Route.BASE, Asset.BASE
    Route.BASE, Asset.BASE = discord.api_base, discord.cdn_base
    try:
        yield
    finally:
        Route.BASE, Asset.BASE = before, assets


@asynccontextmanager
async def running(discord: LoopbackDiscord, client: Client | None = None, **options: Any) -> AsyncIterator[Client]:
    """A client that is logged in and ready."""
    async with redirected(discord):
        bot = client if client is not None else Client(intents=usual(), **options)
        task = asyncio.create_task(bot.start(discord.token))
        ready = asyncio.create_task(bot.hears("ready"))
        try:
            await asyncio.wait({task, ready}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                await task
            await ready
            yield bot
        finally:
            ready.cancel()
            await bot.close()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.gather(task, ready, return_exceptions=True)
