from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
NAMED = re.compile(r"`((?:agent|plugins|bridges|migrations|tests|benchmarks|docs)/[\w./]*)`")


def missing(page: str) -> set[str]:
    return {name for name in NAMED.findall(page) if not (ROOT / name).exists()}


def test_every_file_that_the_page_names_exists() -> None:
    assert len(set(NAMED.findall(PAGE))) > 40
    assert missing(PAGE) == set()
    assert missing("`agent/app.py` and `agent/gone.py`, `plugins/`") == {"agent/gone.py"}


def test_every_room_of_the_core_is_on_the_page() -> None:
    rooms = {path.name for path in (ROOT / "agent").iterdir() if (path / "__init__.py").exists()}
    inner = {"cli", "doctor", "locale"}  # the command line speaks for itself in its help
    assert {room for room in rooms - inner if f"`agent/{room}/" not in PAGE} == set()
