from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest_asyncio

from agent.contracts.people import Account
from agent.identity.people import People
from agent.places import Place
from agent.privacy.guards import MemoryGuards
from agent.privacy.repository import Privacy
from agent.store.pool import ExternalServer, Store
from tests.agent.identity.builders import GENERAL, HOME, NOW, author
from tests.agent.privacy.doubles import StubHooks, prepare_writer


@dataclass(frozen=True)
class Home:
    """A server with two people, their privacy and the guards."""

    store: Store
    privacy: Privacy
    hooks: StubHooks
    guards: MemoryGuards
    place: Place
    ana: Account
    ben: Account

    @property
    def server_id(self) -> int:
        return self.place.server.server_id

    @property
    def ana_user(self) -> int:
        assert self.ana.user_id is not None
        return self.ana.user_id


@pytest_asyncio.fixture
async def home(store: Store) -> Home:
    people = People(store)
    entrance = await people.enter(HOME, GENERAL, author("ana", "Ana", "ana.m"), NOW)
    ben = await people.enter(HOME, GENERAL, author("ben", "Ben"), NOW)
    await prepare_writer(store)
    privacy, hooks = Privacy(store), StubHooks()
    return Home(store, privacy, hooks, MemoryGuards(privacy, hooks), entrance.place, entrance.account, ben.account)


@pytest_asyncio.fixture
async def others(database_url: str) -> AsyncIterator[tuple[Store, ...]]:
    """Three more pools on the same database, as other processes have."""
    stores = tuple(Store(ExternalServer(database_url), size=8) for _ in range(3))
    for each in stores:
        await each.open()
    yield stores
    for each in stores:
        await each.close()
