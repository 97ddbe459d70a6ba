from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from agent.store.pool import Store
from agent.testing.app import running_agent
from plugins.documents.repository import DocumentRepository
from plugins.documents.settings import DocumentsSettings
from tests.plugins.documents.room import SETTINGS, Room
from tests.plugins.documents.shelf import Shelf


@pytest.fixture
def repository(store: Store) -> DocumentRepository:
    return DocumentRepository(store, DocumentsSettings())


@pytest.fixture
def shelf(store: Store, repository: DocumentRepository) -> Shelf:
    return Shelf(store, repository)


@pytest_asyncio.fixture
async def room(database_url: str) -> AsyncIterator[Room]:
    async with running_agent(database_url, SETTINGS) as agent:
        yield Room(agent)
