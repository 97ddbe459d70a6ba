"""docs/personas.md says what the code does."""

import re
from pathlib import Path
from typing import cast

from agent.core import Core
from agent.impersonation.rules import LASTS, Consent
from agent.personas.commands import PersonaCommands
from agent.personas.rules import MOST_PERSONAS
from bridges.console.arguments import usage

PAGE = (Path(__file__).parents[2] / "docs" / "personas.md").read_text("utf-8")


class _Anything:
    def __getattr__(self, name: str) -> object:
        return self


def test_the_table_of_commands_is_that_of_the_code() -> None:
    commands = PersonaCommands(cast("Core", _Anything())).commands()
    table = PAGE.partition("| command | what it does |")[2].partition("\n\n")[0]
    shown = {" ".join(row.split()[:2]): row for row in re.findall(r"^\| `(/persona [^`]+)` \|", table, re.MULTILINE)}
    assert shown.keys() == {f"/{' '.join(command.path)}" for command in commands}
    for command in commands:
        row = shown[f"/{' '.join(command.path)}"]
        assert [word.startswith("[") for word in row.split()[2:]] == [
            word.startswith("[") for word in usage(command).split()[2:]
        ], row


def test_the_table_of_consents_is_that_of_the_code() -> None:
    table = PAGE.partition("| `/impersonate consent` | who may ask |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == [consent.value for consent in Consent]


def test_the_numbers_are_those_of_the_code() -> None:
    assert f"up to {MOST_PERSONAS}" in PAGE
    assert f"waits for {LASTS.total_seconds() / 60:g} minutes" in PAGE.replace("\n", " ")
