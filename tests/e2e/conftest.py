from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from agent.testing.database import temporary_data_directory
from tests.e2e.process import Isthmus

type Deploy = Callable[..., Isthmus]


def deploy_in(folder: Path, stack: ExitStack) -> Deploy:
    def deploy(settings: str = "", name: str = "deployment") -> Isthmus:
        place = folder / name
        place.mkdir()
        if settings:
            (place / "plugins.toml").write_text(settings)
        return Isthmus(place, stack.enter_context(temporary_data_directory()) / "data")

    return deploy


@pytest.fixture
def deploy(tmp_path: Path) -> Iterator[Deploy]:
    """Make a deployment of its own, with a data directory in memory."""
    with ExitStack() as stack:
        yield deploy_in(tmp_path, stack)


@pytest.fixture(scope="module")
def isthmus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Isthmus]:
    """One deployment without any settings, shared by the tests of a module."""
    with ExitStack() as stack:
        yield deploy_in(tmp_path_factory.mktemp("shared"), stack)()
