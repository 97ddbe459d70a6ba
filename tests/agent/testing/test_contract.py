from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from agent.bridge import Capabilities
from agent.testing.contract import FullBridgeContract
from agent.testing.fake_bridge import FakeBridge, FakeBridgeSettings, bridge_section
from agent.testing.fake_platform import FakePlatform
from agent.testing.fake_remote import serve
from tests.agent.testing.fake_worlds import FakeWorld

PLATFORMS = {
    "keyed": Capabilities(2000, has_idempotency_key=True),
    "unkeyed": Capabilities(2000, has_idempotency_key=False),
    "utf16": Capabilities(101, has_idempotency_key=True, length_unit="utf16"),
    "bytes": Capabilities(65, has_idempotency_key=True, length_unit="bytes"),
}


@pytest.fixture(params=PLATFORMS)
def platform(request: pytest.FixtureRequest) -> FakePlatform:
    return FakePlatform(capabilities=PLATFORMS[request.param], identity="fake-bot")


class TestInTheSameProcess(FullBridgeContract):
    @pytest_asyncio.fixture
    async def world(self, platform: FakePlatform) -> FakeWorld:
        return FakeWorld(platform, FakeBridge(platform=platform))


class TestOverASocket(FullBridgeContract):
    @pytest_asyncio.fixture
    async def world(self, platform: FakePlatform, tmp_path: Path) -> AsyncIterator[FakeWorld]:
        section = bridge_section(platform, tmp_path / "platform.sock")
        del section["module"]
        async with serve(platform, tmp_path / "platform.sock"):
            yield FakeWorld(platform, FakeBridge(FakeBridgeSettings.model_validate(section)))
