"""docs/export-import.md says what the code does."""

import re
from pathlib import Path

from plugins.memory.transfer.entries import MAX_ENTRIES, MAX_FILE
from plugins.memory.transfer.foreign import mem0, tomoribot
from plugins.memory.transfer.outcome import Became
from plugins.memory.transfer.reading import read_file
from plugins.memory.transfer.rules import ENTRY_FIELDS

PAGE = (Path(__file__).parents[2] / "docs" / "export-import.md").read_text("utf-8")


def names_in_table(heading: str) -> set[str]:
    section = re.split(r"^##+ ", PAGE.partition(f"# {heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    first = re.findall(r"^\| (`[^|]*) \|", section, re.MULTILINE)
    return set(re.findall(r"`([^`]+)`", " ".join(first)))


def test_the_example_is_read() -> None:
    example = PAGE.partition("```json\n")[2].partition("```")[0]
    parsed = read_file(example.encode(), "example.json")
    assert len(parsed.entries) == 2
    assert parsed.notes == ()


def test_the_fields_are_those_that_are_read() -> None:
    assert names_in_table("The file") == set(ENTRY_FIELDS) | {"about", "person"}
    assert names_in_table("TomoriBot") == tomoribot.KNOWN
    assert all(f"`{name}`" in PAGE for name in (*mem0.LISTS, *mem0.TEXTS))


def test_the_results_are_those_of_the_code() -> None:
    assert names_in_table("Import") == set(Became)


def test_the_limits() -> None:
    assert f"at most {MAX_FILE // 2**20} MiB and {MAX_ENTRIES} memories" in PAGE
