"""Unicode's table of characters that look alike (UTS #39), read from `confusables.txt` when it is first asked for."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).with_name("confusables.txt")


@cache
def prototypes() -> dict[int, str]:
    """Return the table in the form that `str.translate` takes: a character's number and what it looks like."""
    table: dict[int, str] = {}
    # One decoding of the whole file: a start that compares names must not wait for thousands of small ones.
    for line in FILE.read_bytes().decode("unicode_escape").split("\n"):
        if line and not line.startswith("#"):
            target, _, sources = line.rpartition("\t")  # one target has a tab in it
            table |= dict.fromkeys(map(ord, sources), target)
    return table


def unicode_version() -> str:
    """Return the version of Unicode that the table is of."""
    with FILE.open(encoding="ascii") as file:
        return file.readline().rpartition(", Unicode ")[2].partition(";")[0]
