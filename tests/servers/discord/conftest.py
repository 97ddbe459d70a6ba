from collections.abc import AsyncIterator

import pytest_asyncio

from tests.servers.discord.loopback import LoopbackDiscord


@pytest_asyncio.fixture
async def discord() -> AsyncIterator[LoopbackDiscord]:
    """A loopback Discord; at its end every request must have fitted Discord's description."""
    async with LoopbackDiscord() as server:
        yield server
