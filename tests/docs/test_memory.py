"""docs/memory.md says what the code does."""

import re
import tomllib
from pathlib import Path

from agent.places import Audience
from plugins.memory.settings import MemorySettings
from plugins.memory.status import Status

PAGE = (Path(__file__).parents[2] / "docs" / "memory.md").read_text("utf-8")


def first_column(heading: str) -> list[str]:
    table = PAGE.partition(heading)[2].partition("\n\n")[0]
    return re.findall(r"^\| `([a-z_]+)` \| .+ \|$", table, re.MULTILINE)


def test_the_table_of_statuses_is_that_of_the_code() -> None:
    assert first_column("| status | meaning |") == [status.value for status in Status]


def test_the_table_of_audiences_is_that_of_the_code() -> None:
    assert first_column("| audience | read |") == [audience.value for audience in Audience]


def test_the_settings_are_the_defaults() -> None:
    shown = tomllib.loads(PAGE.partition("```toml\n")[2].partition("```")[0])["plugins"]["memory"]
    del shown["enabled"]
    assert shown == MemorySettings().model_dump()
