import pytest

from agent.store.pool import Store
from plugins.documents.repository import DocumentRepository
from plugins.documents.settings import DocumentsSettings
from tests.plugins.documents.shelf import Shelf


@pytest.fixture
def repository(store: Store) -> DocumentRepository:
    return DocumentRepository(store, DocumentsSettings())


@pytest.fixture
def shelf(store: Store, repository: DocumentRepository) -> Shelf:
    return Shelf(store, repository)
