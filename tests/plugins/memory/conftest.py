import pytest

from agent.store.pool import Store
from plugins.memory.repository import MemoryRepository
from tests.plugins.memory.prompts import Prompts
from tests.plugins.memory.stage import Stage
from tests.plugins.memory.world import World


@pytest.fixture
def repository(store: Store) -> MemoryRepository:
    return MemoryRepository(store)


@pytest.fixture
def world(store: Store) -> World:
    return World(store)


@pytest.fixture
def stage(store: Store) -> Stage:
    return Stage(store)


@pytest.fixture
def prompts(stage: Stage) -> Prompts:
    return Prompts(stage)
