import pytest

from tests.plugins.memory.commands.people import Counter
from tests.plugins.memory.stage import Stage


@pytest.fixture
def counter(stage: Stage) -> Counter:
    return Counter(stage)
