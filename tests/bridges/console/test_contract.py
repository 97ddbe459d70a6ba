"""The console bridge does what every bridge must do."""

from collections.abc import Collection

import pytest

from agent.events import Author
from agent.terminal import Whereabouts
from agent.testing.contract import BridgeContract, ThreadContract
from bridges.console.bridge import ConsoleBridge


class ConsoleWorld:
    """A terminal with ana at it."""

    def __init__(self) -> None:
        self._where = Whereabouts("Ana")
        self.bridge = ConsoleBridge()
        self.server = self._where.server_ref
        self.channel = self._where.channel_ref
        self.person = self._where.author

    async def say(self, text: str) -> str:
        return await self.bridge.say(self._where, text)

    async def say_in_thread(self, text: str) -> str:
        return await self.bridge.say(self._where.in_thread("plans"), text)

    def mention(self, person: Author) -> str:
        return f"@{person.display_name}"

    async def pinged(self, message_id: str) -> Collection[str]:
        """Nothing rings in a terminal."""
        return ()


class TestConsoleBridge(BridgeContract, ThreadContract):
    @pytest.fixture
    def world(self) -> ConsoleWorld:
        return ConsoleWorld()
