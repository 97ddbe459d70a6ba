"""The Matrix bridge does what every bridge must do, at a real homeserver."""

import pytest_asyncio

from agent.testing.contract import FullBridgeContract
from tests.bridges.matrix.worlds import MatrixWorld
from tests.servers.synapse import Synapse


class TestMatrixBridge(FullBridgeContract):
    @pytest_asyncio.fixture
    async def world(self, synapse: Synapse) -> MatrixWorld:
        world = MatrixWorld(synapse)
        await world.prepare()
        return world
