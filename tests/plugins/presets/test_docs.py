"""docs/presets.md says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from plugins.presets.commands import PresetCommands
from plugins.presets.preset import Marker
from plugins.presets.settings import PresetSettings

PAGE = (Path(__file__).parents[3] / "docs" / "presets.md").read_text("utf-8")


def table(heading: str) -> dict[str, str]:
    """The first two columns of the first table below a heading."""
    section = re.split(r"^##+ ", PAGE.partition(f"# {heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    rows = re.findall(r"^\| `([^`]*)` \| ([^|]*) \|", section, re.MULTILINE)
    return {word: meaning.strip() for word, meaning in rows}


def test_the_markers_are_described() -> None:
    assert list(table("What stands where")) == list(Marker)


def test_the_settings_are_those_of_the_plugin() -> None:
    assert table("Settings") == {name: str(value) for name, value in PresetSettings().model_dump().items()}


def test_the_commands_are_described() -> None:
    described = [line.split()[1] for line in table("Commands")]
    declared = PresetCommands(None).commands()  # type: ignore[arg-type]
    assert sorted(described) == sorted(command.path[1] for command in declared)
