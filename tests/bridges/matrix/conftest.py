import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.synapse import Synapse, SynapseMissing


@pytest.fixture(scope="session")
def synapse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Synapse]:
    """One Synapse for all tests of a process; each test has rooms and people of its own."""
    yield from running(tmp_path_factory.mktemp("synapse"))


@pytest.fixture
def own_synapse(tmp_path: Path) -> Iterator[Synapse]:
    """A Synapse that a test may kill."""
    yield from running(tmp_path)


def running(folder: Path) -> Iterator[Synapse]:
    try:
        server = Synapse(folder)
    except SynapseMissing as missing:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(missing))
    server.start()
    yield server
    server.stop()
