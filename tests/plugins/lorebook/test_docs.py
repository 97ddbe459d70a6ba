"""docs/lorebooks.md says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from plugins.lorebook.book import Logic
from plugins.lorebook.commands import LorebookCommands
from plugins.lorebook.editing import BOOK_FIELDS, ENTRY_FIELDS, SCOPE_FIELDS
from plugins.lorebook.settings import LorebookSettings
from plugins.lorebook.writing import Form

PAGE = (Path(__file__).parents[3] / "docs" / "lorebooks.md").read_text("utf-8")


def table(heading: str) -> dict[str, str]:
    """The first two columns of the first table below a heading."""
    section = re.split(r"^##+ ", PAGE.partition(f"# {heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    rows = re.findall(r"^ *\| `([^`]*)` \| ([^|]*) \|", section, re.MULTILINE)
    return {word: meaning.strip() for word, meaning in rows}


def test_the_fields_are_those_of_the_command() -> None:
    assert list(table("Fields of an entry")) == list(ENTRY_FIELDS)
    assert list(table("Fields of a lorebook")) == [*BOOK_FIELDS, *SCOPE_FIELDS]


def test_the_logics_are_described() -> None:
    assert list(table("When an entry joins")) == list(Logic)


def test_the_settings_are_those_of_the_plugin() -> None:
    defaults = LorebookSettings().model_dump()
    assert {name: value.lower() for name, value in table("Settings").items()} == {
        name: str(value).lower() for name, value in defaults.items()
    }


def test_the_commands_are_described() -> None:
    described = [line.split()[1] for line in table("Commands")]
    declared = LorebookCommands(None, None).commands()  # type: ignore[arg-type]
    assert sorted(described) == sorted(command.path[1] for command in declared)
    assert all(f"`{form}`" in PAGE for form in Form)
