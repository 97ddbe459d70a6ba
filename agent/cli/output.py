"""How commands print: JSON for programs, lines and tables for people; never a character that a terminal obeys."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from agent.printing import printable, safe_json
from agent.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence


def print_json(value: Any) -> None:
    """Print one JSON value, indented."""
    print_line(safe_json(value, indent=2))


def print_line(text: str = "") -> None:
    """Print text that is safe already."""
    sys.stdout.write(text + "\n")


def print_error(text: str) -> None:
    """Print to standard error, as `isthmus: …`."""
    sys.stderr.write(f"isthmus: {printable(text)}\n")


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows in columns as wide as the terminal lets them be; into a pipe, one line a row, between tabs."""
    cells = [[one_line(printable(cell)) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for row in cells:
            print_line("\t".join(row))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))
    Console(markup=False, highlight=False, emoji=False).print(table)
