import pytest

from tests.plugins.memory.stage import Stage
from tests.plugins.memory.transfer.traffic import Traffic


@pytest.fixture
def traffic(stage: Stage) -> Traffic:
    return Traffic(stage)
