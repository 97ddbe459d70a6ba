"""`isthmus preset …`, as an operator types it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent import logs
from agent.cli.entry import run_command
from tests.default_plugins import without_defaults
from tests.plugins.presets.files import as_json, default_preset, st_prompt


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database_url: str) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    text = f'[database]\nurl = "{database_url}"\n[plugins.presets]\nenabled = true\n'
    (tmp_path / "plugins.toml").write_text(without_defaults(text))
    yield tmp_path
    logs.configure()  # a command leaves the logs of its process silent


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run_command(["preset", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_preset_from_its_file_into_the_prompt(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "quiet.json").write_bytes(as_json(default_preset()))
    code, out, _ = run(capsys, "import", "quiet.json")
    assert (code, out.splitlines()[0]) == (0, "imported quiet: 2 prompts")
    assert "  kept, not applied: openai_max_tokens 300" in out
    assert "hunter2" not in out
    assert run(capsys, "use", "Quiet")[0] == 0
    assert json.loads(run(capsys, "list", "--json")[1]) == [{"name": "quiet", "in_use": True}]
    assert run(capsys, "list")[1].splitlines()[-1].split() == ["quiet", "2", "in", "use"]
    assert run(capsys, "show", "quiet")[1].splitlines()[1] == "1. Main (system, 12 tokens)"
    assert json.loads(run(capsys, "show", "quiet", "--json")[1])["prompts"][0]["identifier"] == "main"
    assert run_command(["prompt", "--json"]) == 0
    items = json.loads(capsys.readouterr().out)["items"]
    assert [item["tag"] for item in items if item["tag"] == "PRESET"] == ["PRESET", "PRESET"]
    assert items[0]["entries"] == ["preset:main"]
    assert run(capsys, "off")[0] == 0
    assert json.loads(run(capsys, "list", "--json")[1]) == [{"name": "quiet", "in_use": False}]


def test_what_goes_wrong_is_one_line_each(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "bad.json").write_bytes(as_json({"prompts": [st_prompt("a", role="x")]}))
    (place / "junk.json").write_bytes(b"junk")
    expected = {
        ("import", "bad.json"): (1, "prompt 1 (A): role: system, user or assistant is expected"),
        ("import", "junk.json"): (1, "junk.json: this is no JSON"),
        ("import", "none.json"): (1, "none.json: there is no such file"),
        ("use", "Atlantis"): (1, "There is no preset “Atlantis” here."),
        ("show", "Atlantis"): (1, "There is no preset “Atlantis” here."),
        ("list", "--server", "discord:1"): (2, "no server with that id"),
        ("nonsense",): (2, "No such command"),
    }
    for arguments, (code, says) in expected.items():
        got, out, err = run(capsys, *arguments)
        assert (got, out) == (code, ""), arguments
        assert says in err
        assert "Traceback" not in err
