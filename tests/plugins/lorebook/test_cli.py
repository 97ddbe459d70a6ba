"""`isthmus lorebook …`, as an operator types it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent import logs
from agent.cli.entry import run_command
from tests.plugins.lorebook.files import as_json, card, card_entry, in_base64, png, st_book, st_entry

CONFIG = '[database]\nurl = "{url}"\n[plugins.memory]\nenabled = false\n[plugins.lorebook]\nenabled = true\n'


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database_url: str) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "plugins.toml").write_text(CONFIG.format(url=database_url))
    yield tmp_path
    logs.configure()  # a command leaves the logs of its process silent


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run_command(["lorebook", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_lorebook_from_its_file_to_its_file(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = st_book(st_entry(0, comment="Dragon", sticky=3), st_entry(1, key=["king"]), name="Realm")
    (place / "realm.json").write_bytes(content)
    code, out, _ = run(capsys, "import", "realm.json")
    assert (code, out.splitlines()) == (
        0,
        ["imported Realm: 2 entries", "  sticky: kept for the export, not used (in entry 0 (Dragon))"],
    )
    code, out, _ = run(capsys, "list")
    assert code == 0
    assert out.splitlines()[-1].split() == ["Realm", "2", "on", "all", "all"]
    code, out, _ = run(capsys, "export", "realm")
    assert (code, json.loads(out)["entries"]["0"]["sticky"]) == (0, 3)
    assert run(capsys, "export", "realm", "--out", "out.json", "--form", "card") == (0, "", "")
    assert json.loads((place / "out.json").read_text())["spec"] == "lorebook_v3"
    code, out, _ = run(capsys, "test", "a Dragon and a king")
    assert (code, out.splitlines()[0]) == (0, "2 entries join the prompt:")
    assert "Dragon (Realm): “dragon”" in out


def test_as_json_and_for_one_place(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "fern.png").write_bytes(png(chara=in_base64(card(card_entry(0)))))
    options = ("--channel", "cave", "--persona", "Isthmus", "--name", "Fern", "--json")
    code, out, _ = run(capsys, "import", "fern.png", *options)
    assert code == 0
    said: dict[str, Any] = json.loads(out)
    assert (said["name"], said["entries"], said["replaced"], said["lineage_id"]) == ("Fern", 1, False, 1)
    code, out, _ = run(capsys, "list", "--json")
    assert (code, json.loads(out)[0]["channels"]) == (0, said["channels"])
    assert json.loads(run(capsys, "test", "dragon", "--json")[1])["active"] == []
    active = json.loads(run(capsys, "test", "dragon", "--json", "--channel", "cave")[1])["active"]
    assert [hit["key"] for hit in active] == ["dragon"]
    assert run(capsys, "import", "fern.png", "--name", "fern")[0] == 1
    assert run(capsys, "import", "fern.png", "--name", "fern", "--replace")[0] == 0


def test_what_goes_wrong_is_one_line_each(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "bad.json").write_bytes(as_json({"entries": {"0": st_entry(0, key=1), "1": st_entry(1, order="x")}}))
    (place / "junk.json").write_bytes(b"\xff\xfe junk")
    (place / "large.json").write_bytes(b" " * (17 * 1024 * 1024))
    code, out, err = run(capsys, "import", "bad.json")
    assert (code, out) == (1, "")
    assert err.splitlines() == [
        "isthmus: nothing was imported: 2 faults in bad.json",
        "isthmus: entry 0: key: a list of texts is expected, this is a number",
        "isthmus: entry 1: order: a whole number is expected, this is a text",
    ]
    expected = {
        ("import", "junk.json"): (1, "junk.json: this is no JSON"),
        ("import", "none.json"): (1, "none.json: there is no such file"),
        ("import", "large.json"): (1, "large.json: it is larger than 16 MiB"),
        ("import", "."): (1, "this is no file"),
        ("export", "Atlantis"): (1, "There is no lorebook “Atlantis” here."),
        ("export", "Atlantis", "--form", "xml"): (2, "expected sillytavern or card"),
        ("list", "--server", "discord:1"): (2, "no server with that id"),
        ("nonsense",): (2, "No such command"),
    }
    for arguments, (code, says) in expected.items():
        got, out, err = run(capsys, *arguments)
        assert (got, out) == (code, ""), arguments
        assert says in err
        assert "Traceback" not in err


def test_the_group_has_help(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--help")
    assert code == 0
    for command in ("list", "import", "export", "test"):
        assert command in out
