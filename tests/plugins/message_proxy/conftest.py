from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from nextcord.asset import Asset
from nextcord.http import Route

from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.pluralkit import PluralKitServer


@pytest.fixture(autouse=True)
def _own_bases() -> Iterator[None]:
    """Give nextcord its addresses back."""
    before = Route.BASE, Asset.BASE
    yield
    Route.BASE, Asset.BASE = before


@pytest_asyncio.fixture
async def discord() -> AsyncIterator[LoopbackDiscord]:
    async with LoopbackDiscord() as server:
        yield server


@pytest_asyncio.fixture
async def pluralkit() -> AsyncIterator[PluralKitServer]:
    async with PluralKitServer() as server:
        yield server
