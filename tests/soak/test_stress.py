"""A minute of load, and two of chaos."""

from __future__ import annotations

import asyncio

import pytest

from agent.store.embedded import EmbeddedServer
from agent.testing.app import running_agent
from agent.testing.database import temporary_data_directory
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from tests.e2e.stress import chaos, echo_model, load
from tests.soak.record import keep

pytestmark = pytest.mark.unwatched_loop


async def test_a_minute_of_load(database_url: str) -> None:
    platform = FakePlatform()
    async with running_agent(database_url, bridge=FakeBridge(platform=platform), model=echo_model()) as agent:
        keep("load", await load(agent, platform, seconds=60))


async def test_two_minutes_of_chaos() -> None:
    platform = FakePlatform()
    with temporary_data_directory() as directory:
        server = EmbeddedServer(directory)
        await asyncio.to_thread(server.ensure_running)
        try:
            bridge = FakeBridge(platform=platform)
            async with running_agent(server.dsn, bridge=bridge, model=echo_model()) as agent:
                keep("chaos", await chaos(agent, platform, server, directory, seconds=120, every=5))
        finally:
            await asyncio.to_thread(server.stop)
