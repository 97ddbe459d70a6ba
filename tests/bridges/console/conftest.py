from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from agent.terminal import Whereabouts
from bridges.console.bridge import ConsoleBridge
from bridges.console.conversation import Conversation
from tests.bridges.console.host import RecordingHost, RecordingScreen


@pytest.fixture
def host() -> RecordingHost:
    return RecordingHost()


@pytest.fixture
def screen() -> RecordingScreen:
    return RecordingScreen()


@pytest_asyncio.fixture
async def bridge(host: RecordingHost, screen: RecordingScreen) -> AsyncIterator[ConsoleBridge]:
    bridge = ConsoleBridge(screen=screen)
    await bridge.start(host)
    yield bridge
    await bridge.stop()


@pytest.fixture
def conversation(bridge: ConsoleBridge) -> Conversation:
    return Conversation(bridge, Whereabouts("root"))
