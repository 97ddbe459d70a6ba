"""`isthmus documents`, as it is typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.cli.entry import run_command
from tests.default_plugins import without_defaults
from tests.plugins.documents.pdfs import encrypted, pdf

GUIDE = "# Raids\n\nRaids begin at eight.\n\n# Loot\n\nLoot is shared.\n"


class Line:
    """The command line in a folder with settings."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str, fails: int = 0) -> str:
        assert run_command(["documents", *arguments]) == fails, self._capsys.readouterr()
        said = self._capsys.readouterr()
        return said.err if fails else said.out

    def json(self, *arguments: str) -> Any:
        return json.loads(self(*arguments, "--json"))


@pytest.fixture
def line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], database_url: str
) -> Line:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    settings = (
        f'[agent]\nembeddings = "local"\n[database]\nurl = "{database_url}"\n[plugins.documents]\nenabled = true\n'
    )
    (tmp_path / "plugins.toml").write_text(without_defaults(settings))
    (tmp_path / "guide.md").write_text(GUIDE)
    return Line(capsys)


def test_a_document_is_added_found_and_removed(line: Line) -> None:
    added = line.json("add", "guide.md", "--title", "Guild guide")
    assert (added["title"], added["kind"], added["parts"], added["audience"]) == (
        "Guild guide",
        "markdown",
        2,
        "server",
    )
    (found,) = [each for each in line.json("search", "when do raids begin?") if each["lexical"] > 0]
    assert found["content"] == "Raids begin at eight."
    assert found["cosine"] > 0.25, "it was embedded before the command ended"
    assert "Guild guide" in line("list")
    shown = line("show", str(added["document_id"]))
    assert "Raids begin at eight." in shown
    assert "Loot is shared." in shown
    assert "--yes" in line("remove", str(added["document_id"]), fails=2)
    assert "removed" in line("remove", str(added["document_id"]), "--yes")
    assert line.json("list") == []


def test_a_part_and_the_scope_are_edited(line: Line) -> None:
    document = str(line.json("add", "guide.md")["document_id"])
    part = str(line.json("show", document)["content"][0]["part_id"])
    assert line.json("edit", part, "--text", "Raids begin at nine.")["content"] == "Raids begin at nine."
    assert line.json("show", part)["content"] == "Raids begin at nine."
    changed = line.json("edit", document, "--title", "Rules", "--channel", "raids", "--channel", "general")
    assert changed["title"] == "Rules"
    assert [channel.rpartition("/")[2] for channel in changed["channels"]] == ["raids", "general"]
    assert line.json("edit", document, "--everywhere", "--persona", "Isthmus")["channels"] == []
    assert line.json("list")[0]["persona_lineage_id"] == 1
    assert line.json("edit", document, "--every-persona")["persona_lineage_id"] is None
    assert "removed" in line("remove", part)
    assert line.json("list")[0]["parts"] == 1


def test_servers_are_kept_apart(line: Line) -> None:
    document = str(line.json("add", "guide.md", "--server", "guild")["document_id"])
    assert line.json("list") == []
    assert "has no document or part" in line("show", document, fails=2)
    assert line.json("list", "--server", "guild")[0]["title"] == "guide"


def test_what_is_wrong_is_said_in_one_line(line: Line, tmp_path: Path) -> None:
    (tmp_path / "secret.pdf").write_bytes(encrypted(pdf(["x"]), "secret"))
    (tmp_path / "empty.txt").write_bytes(b"")
    (tmp_path / "big.txt").write_bytes(b"x" * 6_000_000)
    wrong = {
        ("add", "nowhere.md"): (1, "there is no such file"),
        ("add", "."): (1, "this is no file"),
        ("add", "secret.pdf"): (1, "The PDF is encrypted"),
        ("add", "empty.txt"): (1, "The file is empty"),
        ("add", "big.txt"): (1, "larger than 5 MiB"),
        ("add", "guide.md", "--persona", "nobody"): (2, "--persona nobody: there is none of that name here"),
        ("show", "99"): (2, "has no document or part 99"),
        ("edit", "99", "--text", "x"): (2, "has no document or part 99"),
        ("edit", "99", "--everywhere", "--channel", "x"): (2, "exclude each other"),
        ("edit", "99", "--audience", "nobody"): (2, "expected server or channel"),
        ("remove", "99"): (2, "has no document or part 99"),
        ("search", "anything", "--most", "0"): (2, "greater than or equal to 1"),
    }
    for arguments, (code, text) in wrong.items():
        said = line(*arguments, fails=code)
        assert text in said, arguments
        assert "Traceback" not in said
    document = str(line.json("add", "guide.md")["document_id"])
    assert "as document " in line("add", "guide.md", fails=1)
    assert "nothing to change" in line("edit", document, fails=2)
    assert "is a document" in line("edit", document, "--text", "x", fails=2)


def test_the_terminal_shows_and_does_not_obey(line: Line, tmp_path: Path) -> None:
    (tmp_path / "evil.txt").write_bytes("a \x1b]0;title\x07 b \x9b31m c".encode())
    document = str(line.json("add", "evil.txt", "--title", "x\x1b[31my")["document_id"])
    assert "\x1b" not in line("show", document)
    assert "\x1b" not in line("list")
