"""`isthmus secrets rotate`."""

import json
from pathlib import Path

import pytest

from agent.cli.entry import run_command
from agent.secrets import secret_key


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database_url: str) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "plugins.toml"
    file.write_text(f'[agent]\nembeddings = "off"\n[database]\nurl = "{database_url}"\n')
    assert run_command(["migrate", "--data", str(tmp_path / "data")]) == 0
    return file


def test_a_rotation_leaves_one_new_key(settings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "data"
    before = secret_key(data)
    capsys.readouterr()
    assert run_command(["secrets", "rotate", "--data", str(data), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"rotated": 0}
    after = secret_key(data)
    assert len(after) == 1
    assert after != before
    assert settings.exists()


def test_a_configured_key_is_the_operators_to_change(
    settings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEYS", " ".join(secret_key(tmp_path)))
    settings.write_text(settings.read_text().replace("[agent]", '[agent]\nsecret_key = "env:KEYS"'))
    capsys.readouterr()
    assert run_command(["secrets", "rotate", "--data", str(tmp_path / "data")]) == 0
    assert capsys.readouterr().out == "no secrets are stored\n"
