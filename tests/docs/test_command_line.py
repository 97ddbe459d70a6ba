"""docs/command-line.md names every command of the core, and every option of each."""

import re
from pathlib import Path

import pytest
import typer

from agent.cli.entry import BUILT_IN, build_app
from bridges.console.lines import LOCAL_COMMANDS
from bridges.console.transcript import RecordType

PAGE = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text("utf-8")


def options() -> set[str]:
    group = typer.main.get_command(build_app())
    commands = list(getattr(group, "commands", {}).values())
    commands += [below for command in commands for below in getattr(command, "commands", {}).values()]
    return {name for command in commands for option in command.params for name in option.opts if name[:2] == "--"}


def test_each_command_has_a_section() -> None:
    headings = " ".join(re.findall(r"^## (.*)$", PAGE, re.MULTILINE))
    assert {name for name in BUILT_IN if name not in headings.split()} == set()


def test_each_option_is_named() -> None:
    found = options()
    assert {"--config", "--data", "--json", "--now", "--script"} <= found
    assert {name for name in found - {"--help"} if name not in PAGE} == set()


@pytest.mark.parametrize("name", sorted(LOCAL_COMMANDS))
def test_each_command_of_the_terminal_is_named(name: str) -> None:
    assert f"`/{name}" in PAGE


def test_each_type_of_record_is_named() -> None:
    assert f"({', '.join(RecordType)})" in PAGE
