from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from nextcord.asset import Asset
from nextcord.http import Route

from bridges.discord.client import DiscordClient
from tests.bridges.discord.sending import unasked_mentions
from tests.servers.discord.loopback import LoopbackDiscord


@pytest.fixture(autouse=True)
def _own_bases() -> Iterator[None]:
    """Give nextcord its addresses back."""
    before = Route.BASE, Asset.BASE
    yield
    Route.BASE, Asset.BASE = before


@pytest.fixture(autouse=True)
def _identify_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a new session begin at once; nextcord waits five seconds, as Discord wants it."""

    async def identify(_: DiscordClient, __: int | None, *, initial: bool = False) -> None:
        """Wait for nothing."""

    monkeypatch.setattr(DiscordClient, "before_identify_hook", identify)


@pytest_asyncio.fixture
async def discord() -> AsyncIterator[LoopbackDiscord]:
    """A loopback Discord; at its end every request must have fitted Discord's description and said whom it may ping."""
    async with LoopbackDiscord() as server:
        yield server
    assert list(unasked_mentions(server)) == []
