"""The tables of docs/documents.md say what the code does."""

import re
from pathlib import Path
from typing import cast

from agent.personas.repository import Personas
from plugins.documents.chunking import SIZE
from plugins.documents.commands import DocumentCommands
from plugins.documents.library import Library
from plugins.documents.settings import DocumentsSettings

PAGE = (Path(__file__).parents[2] / "docs" / "documents.md").read_text("utf-8")


def test_the_table_of_settings_is_that_of_the_code() -> None:
    documented = dict(re.findall(r"^\| `(\w+)` \| ([\d.]+) \|", PAGE, re.MULTILINE))
    assert documented == {name: str(value) for name, value in DocumentsSettings().model_dump().items()}


def test_the_table_of_commands_is_that_of_the_code() -> None:
    commands = DocumentCommands(cast("Library", None), cast("Personas", None)).commands()
    documented = re.findall(r"^\| `/documents (\w+)", PAGE, re.MULTILINE)
    assert sorted(documented) == sorted(command.path[1] for command in commands)


def test_the_size_of_a_part_is_that_of_the_code() -> None:
    assert f"at most {SIZE} characters" in PAGE
