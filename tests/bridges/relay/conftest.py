import os
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from nextcord.asset import Asset
from nextcord.http import Route

from bridges.relay.names import Names
from bridges.relay.registration import Tokens, registration
from bridges.relay.settings import RelaySettings
from tests.bridges.relay.worlds import Service
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.synapse import Synapse, SynapseMissing
from tests.servers.synapse.configuration import SERVER_NAME


@pytest.fixture(autouse=True)
def _own_bases() -> Iterator[None]:
    """Give nextcord its addresses back."""
    before = Route.BASE, Asset.BASE
    yield
    Route.BASE, Asset.BASE = before


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A Synapse that knows the relay, for all tests of a process."""
    yield from served(tmp_path_factory.mktemp("relay"))


@pytest.fixture
def own_service(tmp_path: Path) -> Iterator[Service]:
    """One that a test may kill."""
    yield from served(tmp_path)


@pytest_asyncio.fixture
async def discord() -> AsyncIterator[LoopbackDiscord]:
    """A loopback Discord; at its end every request must have fitted Discord's description."""
    async with LoopbackDiscord() as server:
        yield server


def served(folder: Path) -> Iterator[Service]:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = int(found.getsockname()[1])
    tokens, file = Tokens.fresh(), folder / "registration.yaml"
    settings = RelaySettings(homeserver="http://127.0.0.1:1", server_name=SERVER_NAME, port=port)
    names = Names(settings.prefix, settings.localpart, settings.server_name)
    file.write_text(registration(settings, names, tokens))
    try:
        synapse = Synapse(folder, (file,))
    except SynapseMissing as missing:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(missing))
    synapse.start()
    yield Service(synapse, tokens, port)
    synapse.stop()
