"""docs/testing-plugins.md shows a test that is run, and names everything that the kit offers."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.testing import contract
from agent.testing.fake_delivery import Delivery
from agent.testing.fake_platform import FakePlatform
from agent.testing.fake_posting import Posting

HERE = Path(__file__)
PAGE = (HERE.parents[2] / "docs" / "testing-plugins.md").read_text("utf-8")
FOR_BRIDGES = {
    "fetch",
    "observe",
    "connect",
    "disconnect",
    "bring",
    "post",
    "find",
    "listener",
    "capabilities",
    "settled",
}
"""What the fake bridge asks for; a test does not."""


def test_the_example_is_shown_as_it_is() -> None:
    assert f"```python\n{(HERE.parent / 'test_quiet_hours_whole.py').read_text('utf-8')}```\n" in PAGE


@pytest.mark.parametrize("kind", [FakePlatform, Delivery, Posting])
def test_the_page_names_what_a_test_can_use(kind: type) -> None:
    public = {name for name in vars(kind) if not name.startswith("_")} - FOR_BRIDGES
    assert {name for name in public if f"{name}(" not in PAGE and f"`{name}`" not in PAGE} == set()


def test_the_page_names_every_contract() -> None:
    assert [name for name in contract.__all__ if name.endswith("Contract") and name not in PAGE] == []
