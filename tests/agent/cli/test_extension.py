import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.cli.entry import run_command
from tests.default_plugins import without_defaults

PLUGIN = """
import typer
from agent.hookspecs import hookimpl


class Plugin:
    name = "greeter"

    @hookimpl
    def register_cli(self, app: typer.Typer) -> None:
        {body}
"""
COMMAND = """group = typer.Typer(help="Greets.")
        group.callback()(lambda: None)
        app.add_typer(group, name="greet")

        @group.command("everybody")
        def everybody(config: str = "", fail: bool = False) -> int:
            print("hello everybody")
            return 1 if fail else 0
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.syspath_prepend(tmp_path / "modules")
    (tmp_path / "modules").mkdir()
    (tmp_path / "plugins.toml").write_text(without_defaults('[plugins.greeter]\nmodule = "greeter_for_tests"\n'))
    yield tmp_path
    sys.modules.pop("greeter_for_tests", None)


def write(place: Path, body: str) -> None:
    (place / "modules" / "greeter_for_tests.py").write_text(PLUGIN.format(body=body))


def test_a_plugin_adds_commands(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(place, COMMAND)
    assert run_command(["greet", "everybody"]) == 0
    assert capsys.readouterr().out == "hello everybody\n"
    assert run_command(["greet", "everybody", "--fail"]) == 1
    assert run_command(["--help"]) == 0
    assert "Greets." in capsys.readouterr().out


def test_the_settings_file_may_be_named_behind_the_command(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(place, COMMAND)
    (place / "plugins.toml").rename(place / "other.toml")
    (place / "plugins.toml").write_text(without_defaults())
    assert run_command(["greet", "everybody"]) == 2
    assert run_command(["greet", "everybody", "--config", "other.toml"]) == 0
    assert "No such command 'greet'" in capsys.readouterr().err


@pytest.mark.parametrize("body", ["raise RuntimeError('secret detail')", "1 / 0"])
def test_a_plugin_that_fails_takes_no_other_command_along(
    place: Path, capsys: pytest.CaptureFixture[str], body: str
) -> None:
    write(place, body)
    assert run_command(["--help"]) == 0
    assert run_command(["plugins", "list"]) == 0
    assert run_command(["greet"]) == 2
    captured = capsys.readouterr()
    assert "greeter" in captured.out
    assert "No such command 'greet'" in captured.err
    assert "secret detail" not in captured.err


def test_a_plugin_that_cannot_be_imported_keeps_nobody_from_the_help(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "modules" / "greeter_for_tests.py").write_text("import nowhere_to_be_found")
    assert run_command(["--help"]) == 0
    said = "isthmus: plugin greeter cannot show its commands (Unloadable); isthmus doctor says why\n"
    assert capsys.readouterr().err == said
    assert run_command(["greet"]) == 2
    assert "plugins.greeter" in capsys.readouterr().err
