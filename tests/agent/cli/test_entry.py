import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.cli import entry
from agent.cli.entry import BUILT_IN, build_app, run_command
from agent.cli.errors import CallRefused, CommandFailed
from tests.default_plugins import without_defaults

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the repository's plugins.toml nor the user's counts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "plugins.toml").write_text(without_defaults())


def test_the_commands_of_the_core_are_known_by_name() -> None:
    app = build_app()
    names = {command.name for command in app.registered_commands} | {group.name for group in app.registered_groups}
    assert names == BUILT_IN


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_each_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command([name, "--help"]) == 0
    assert name in capsys.readouterr().out


def test_config_and_data_are_options_of_every_subcommand(capsys: pytest.CaptureFixture[str]) -> None:
    groups = {
        "people": ["links", "unlink"],
        "persona": ["list", "create", "rename", "default", "share-lineage", "delete"],
        "plugins": ["list"],
        "secrets": ["rotate"],
        "tools": ["list", "call"],
    }
    for name in sorted(BUILT_IN):
        for sub in groups.get(name, [""]):
            assert run_command([word for word in (name, sub, "--help") if word]) == 0
            shown = capsys.readouterr().out
            assert "--config" in shown, (name, sub)
            assert "--data" in shown, (name, sub)


def test_without_a_command_the_help_is_shown_and_the_call_was_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command([]) == 2
    captured = capsys.readouterr()
    assert "Commands" in captured.out + captured.err


def test_the_version_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["--version"]) == 0
    assert capsys.readouterr().out.startswith("isthmus 0.")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["chat", "--nonsense"], "No such option"),
        (["nonsense"], "No such command"),
        (["plugins", "nonsense"], "No such command"),
        (["--data", "x", "chat"], "after the command's name"),
        (["tools", "call", "x"], "Missing argument 'JSON'"),
        (["tools", "call", "x", "{"], "no JSON"),
        (["tools", "call", "x", "[]"], "no JSON object"),
        (["prompt", "--now", "yesterday"], "--now 'yesterday' is no moment"),
        (["chat", "--dm", "--server", "work"], "--dm is a place of its own"),
        (["chat", "--as", " "], "name of a person cannot be empty"),
        (["chat", "--server", "a/b"], "cannot hold"),
        (["chat", "--script", "missing.txt"], "cannot read the script missing.txt: No such file"),
        (["chat", "--script", "."], "is a directory"),
        (["plugins", "list", "--config", "missing.toml"], "missing.toml: no such file"),
    ],
)
def test_a_wrong_call_is_said_in_a_line_or_two(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.splitlines()
    assert said in lines[0]
    assert lines[0].startswith("isthmus: ")
    assert len(lines) <= 2


@pytest.mark.parametrize("settings", ["", "[bridges.console]\n", "[bridges.discord]\nenabled = false\n"])
def test_a_run_without_bridges_says_how_to_enable_one(
    settings: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "plugins.toml").write_text(settings)
    assert run_command(["run"]) == 1
    said = capsys.readouterr().err
    assert "no bridge is enabled" in said
    assert "isthmus chat" in said


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (CallRefused("wrong \x1b[2J"), 2, "isthmus: wrong [2J\n"),
        (CommandFailed("failed"), 1, "isthmus: failed\n"),
        (KeyboardInterrupt(), 130, ""),
        (BrokenPipeError(), 1, ""),
    ],
)
def test_what_a_command_raises_becomes_a_line_and_a_code(
    error: BaseException, code: int, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_arguments: list[str]) -> int:
        raise error

    monkeypatch.setattr(entry, "_dispatch", fail)
    monkeypatch.setattr(entry, "_forget_stdout", lambda: None)
    assert run_command(["chat"]) == code
    assert capsys.readouterr().err == said


def test_an_unexpected_error_shows_an_id_and_keeps_its_detail(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def fail(_arguments: list[str]) -> int:
        raise ValueError("the token is hunter2")

    monkeypatch.setattr(entry, "_dispatch", fail)
    assert run_command(["chat", "--data", str(tmp_path / "kept")]) == 1
    said = capsys.readouterr().err
    log = tmp_path / "kept" / "errors.log"
    assert said.startswith("isthmus: unexpected error ")
    assert said.rstrip().endswith(f"(ValueError); its detail is in {log}")
    assert "hunter2" not in said
    number = said.split()[3]
    detail = log.read_text()
    assert f"error {number}" in detail
    assert "ValueError: the token is hunter2" in detail
    assert log.stat().st_mode & 0o077 == 0


def test_a_place_where_nothing_can_be_kept_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def fail(_arguments: list[str]) -> int:
        raise ValueError

    monkeypatch.setattr(entry, "_dispatch", fail)
    (tmp_path / "file").write_text("")
    assert run_command(["chat", f"--data={tmp_path / 'file'}"]) == 1
    assert "could not be kept: " in capsys.readouterr().err


def run_process(*command: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environ)


def test_every_mistake_of_the_settings_is_reported_in_one_run(tmp_path: Path) -> None:
    (tmp_path / "plugins.toml").write_text('[agent]\nmodle = "offline"\n[logging]\nlevel = 3\n[plugin.x]\n')
    done = run_process(sys.executable, "-m", "agent", "plugins", "list")
    assert done.returncode == 2
    assert done.stdout == ""
    assert [line.split(":")[2] for line in done.stderr.splitlines()] == [
        "2",
        "4",
        "5",
    ] or "plugins.toml:2" in done.stderr
    assert "did you mean model?" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["chat", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    done = run_process(sys.executable, "-X", "importtime", "-m", "agent", *arguments)
    assert done.returncode == 0
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    heavy = {"alembic", "sqlalchemy", "pydantic_ai", "openai", "asyncpg", "prompt_toolkit", "nio", "nextcord"}
    heavy |= {"wordllama", "numpy", "babel", "aiohttp", "structlog", "agent.app"}
    assert imported & heavy == set()
    assert "typer" in imported


def test_output_into_a_closed_pipe_is_no_error() -> None:
    done = run_process("/bin/sh", "-c", f"{sys.executable} -m agent chat --help | true")
    assert done.stderr == ""
