"""`isthmus memory export|import`, as an operator types it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent import logs
from agent.cli.entry import run_command
from tests.plugins.memory.transfer.traffic import file_of

CREATE = "create_long_term_memory"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database_url: str) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "plugins.toml").write_text(f'[database]\nurl = "{database_url}"\n[agent]\nembeddings = "off"\n')
    yield tmp_path
    logs.configure()  # a command leaves the logs of its process silent


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run_command(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_server_and_a_person_there_and_back(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shared = json.dumps({"memory_content": "Game night is Friday.", "memory_scope": "server_wide"})
    own = json.dumps({"memory_content": "Likes tea", "memory_scope": "target_user", "target_user": "Ana"})
    assert run(capsys, "tools", "call", CREATE, shared, "--as", "Ana")[0] == 0
    assert run(capsys, "tools", "call", CREATE, own, "--as", "Ana")[0] == 0
    code, out, err = run(capsys, "memory", "export", "--server", "home", "--user", "Ana")
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert [entry["content"] for entry in data["server_memories"]] == ["Game night is Friday."]
    assert [entry["content"] for entry in data["personal_memories"]] == ["Likes tea"]
    assert run(capsys, "memory", "export", "all.json", "--server", "home", "--user", "Ana")[:2] == (
        0,
        "exported 2 memories\n",
    )
    assert (place / "all.json").stat().st_mode & 0o077 == 0
    data["server_memories"].append({"content": "The club is called Fen."})
    (place / "more.json").write_text(json.dumps(data))
    both = ("--server", "home", "--user", "Ana")
    code, out, _ = run(capsys, "memory", "import", "more.json", *both, "--dry-run")
    assert code == 0
    assert out.splitlines()[:2] == ["a trial run: nothing has changed", "1 saved, 2 already known, 0 left out."]
    code, out, _ = run(capsys, "memory", "import", "more.json", *both, "--merge", "--json")
    assert code == 0
    said = json.loads(out)
    assert (said["written"], said["saved"], said["already_known"], said["left_out"]) == (True, 1, 2, 0)
    assert [entry["result"] for entry in said["entries"]] == ["already_known", "saved", "already_known"]
    code, out, _ = run(capsys, "memory", "import", "all.json", *both, "--replace")
    assert (code, out.splitlines()[:2]) == (0, ["2 saved, 0 already known, 0 left out.", "removed: 3"])


def test_what_goes_wrong(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "memory", "export")
    assert code == 1
    assert "nobody has entered it yet" in err
    shared = json.dumps({"memory_content": "x", "memory_scope": "server_wide"})
    assert run(capsys, "tools", "call", CREATE, shared, "--as", "Ana")[0] == 0
    (place / "bad.json").write_text(json.dumps(file_of({"content": 1})))
    code, out, err = run(capsys, "memory", "import", "bad.json")
    assert (code, out) == (1, "")
    assert err.splitlines() == [
        "isthmus: nothing was imported from bad.json",
        "isthmus: entry 1 (server_memories[0]): content: a text is expected, this is a number",
    ]
    code, out, _ = run(capsys, "memory", "import", "bad.json", "--json")
    assert code == 1
    assert json.loads(out)["written"] is False
    code, _, err = run(capsys, "memory", "import", "none.json")
    assert (code, err) == (1, "isthmus: none.json: there is no such file\n")
    assert run(capsys, "memory", "import", "bad.json", "--merge", "--replace")[0] == 2
    assert run(capsys, "memory", "export", "--persona", "Bark")[0] == 2
    assert run(capsys, "memory", "export", "--user", "Cleo")[0] == 2
