"""docs/matrix.md says what the code does."""

import tomllib
from pathlib import Path
from typing import Any

from pydantic_core import PydanticUndefined

from bridges.matrix.commands.answering import ELSEWHERE
from bridges.matrix.commands.confirming import REACTIONS, VALID
from bridges.matrix.encryption import MOST_WAITING
from bridges.matrix.rules.relations import ANSWERED_WITHIN
from bridges.matrix.rules.room import CREATORS_REIGN, MANAGE
from bridges.matrix.settings import Invitations, MatrixSettings
from bridges.matrix.syncing import MOST_MISSED

PAGE = (Path(__file__).parents[2] / "docs" / "matrix.md").read_text()


def test_the_settings_are_those_of_the_code() -> None:
    lines = PAGE.partition("| key | what it does | default |\n")[2].partition("\n\n")[0].splitlines()[1:]
    cells = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]
    rows = {name.strip("`"): default for name, _, default in cells}
    fields = MatrixSettings.model_fields
    assert set(rows) == set(fields)
    for name, shown in rows.items():
        default: Any = fields[name].default
        if default is not PydanticUndefined and isinstance(default, (str, int)):
            written = str(default).lower() if isinstance(default, bool) else default
            assert shown.strip("`") == (f'"{written}"' if isinstance(default, str) else str(written)), name


def test_the_example_is_one() -> None:
    example = tomllib.loads(PAGE.partition("```toml\n")[2].partition("```")[0])["bridges"]["matrix"]
    assert MatrixSettings.model_validate(example).invitations.people == ("@ana:example.org",)
    named = next(line for line in PAGE.splitlines() if line.startswith("| `invitations`"))
    assert all(f"`{name}`" in named for name in Invitations.model_fields)


def test_the_figures_are_those_of_the_code() -> None:
    assert f"power level of {MANAGE}" in PAGE
    assert f"version {CREATORS_REIGN} and later" in PAGE
    assert (VALID.total_seconds(), "within ten minutes" in PAGE) == (600, True)
    assert f"the last {MOST_MISSED} events" in PAGE
    assert f"older than {ANSWERED_WITHIN.total_seconds() / 60:.0f} minutes" in PAGE
    assert f"(the last {MOST_WAITING})" in PAGE
    assert all(emoji in PAGE for emoji in (*REACTIONS.values(), ELSEWHERE))
