from pathlib import Path

import pytest

from agent.contracts.people import Refusal
from plugins.memory.status import Status, refused_save, refused_update


@pytest.mark.parametrize("code", list(Refusal))
def test_each_refusal_has_a_status_in_both_tools(code: Refusal) -> None:
    assert refused_save(code).startswith("memory_save_failed_")
    assert refused_update(code).startswith("memory_update_failed_")
    assert refused_save(code).removeprefix("memory_save") == refused_update(code).removeprefix("memory_update")


@pytest.mark.parametrize("status", list(Status))
def test_each_status_is_reached_by_a_test(status: Status) -> None:
    others = (path for path in Path(__file__).parent.glob("test_*.py") if path.name != Path(__file__).name)
    assert any(f"Status.{status.name}" in path.read_text("utf-8") for path in others)
