"""Load and chaos for some seconds; the soak (tests/soak/test_stress.py) takes longer."""

from __future__ import annotations

import asyncio

import pytest

from agent.store.embedded import EmbeddedServer
from agent.testing.app import running_agent
from agent.testing.database import temporary_data_directory
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from tests.e2e.stress import chaos, echo_model, load


@pytest.mark.unwatched_loop  # it is measured
async def test_many_conversations_at_once(database_url: str) -> None:
    platform = FakePlatform()
    async with running_agent(database_url, bridge=FakeBridge(platform=platform), model=echo_model()) as agent:
        figures = await load(agent, platform, seconds=3)
    assert figures["messages"] > 100


@pytest.mark.timeout(120)
@pytest.mark.unwatched_loop
async def test_a_failing_database_and_a_failing_platform() -> None:
    platform = FakePlatform()
    with temporary_data_directory() as directory:
        server = EmbeddedServer(directory)
        await asyncio.to_thread(server.ensure_running)
        try:
            bridge = FakeBridge(platform=platform)
            async with running_agent(server.dsn, bridge=bridge, model=echo_model()) as agent:
                figures = await chaos(agent, platform, server, directory, seconds=6, every=2)
        finally:
            await asyncio.to_thread(server.stop)
    assert figures["server_kills"] >= 1
    assert figures["answered"] > 20
