import importlib
import inspect
import pkgutil
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio
from hypothesis import settings

from agent.catalog import available_locales, preload
from agent.store.migration_sets import CORE, MigrationSet
from agent.testing.loop_watch import LoopWatch

pytest_plugins = ["agent.testing.pytest_plugin"]

ROOT = Path(__file__).parents[1]
NOT_IMPORTED = {"agent.__main__"}
"""What runs when it is imported."""

# The inherited profile draws the same examples each time on CI. How long one takes says more about the machine.
settings.register_profile("isthmus", settings(deadline=None, print_blob=True))
settings.load_profile("isthmus")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "unwatched_loop: the test holds up the event loop on purpose")


@pytest.fixture(scope="session")
def migration_sets() -> Sequence[MigrationSet]:
    plugins = sorted(path.parent.name for path in (ROOT / "plugins").glob("*/migrations"))
    return (CORE, *(MigrationSet(name, f"plugins.{name}.migrations") for name in plugins))


@pytest.fixture(scope="session")
def everything_is_imported() -> None:
    """Import the product once, so that no test's event loop waits for what another one would have imported."""
    for name in ("agent", "plugins", "bridges"):
        for module in pkgutil.walk_packages([str(ROOT / name)], f"{name}."):
            if module.name not in NOT_IMPORTED:
                importlib.import_module(module.name)
    for locale in available_locales():
        preload(locale)


@pytest.fixture(autouse=True)
def loop_is_watched(request: pytest.FixtureRequest) -> None:
    """Fail a test whose event loop was held up or reported an exception that nobody handled."""
    is_async = inspect.iscoroutinefunction(getattr(request.node, "obj", None))
    if is_async and not request.node.get_closest_marker("unwatched_loop"):
        request.getfixturevalue("everything_is_imported")
        request.getfixturevalue("watched_loop")


@pytest_asyncio.fixture
async def watched_loop() -> AsyncIterator[None]:
    watch = LoopWatch()
    watch.start()
    yield
    assert watch.stop() == []
