import io
import sys

import pytest

from agent.cli.output import print_error, print_json, print_table


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


ROWS = [("memory", "[red]ok[/red]\x1b[2J", "a\tb\nc"), ("privacy", "failed", "")]


def test_into_a_pipe_each_row_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("plugin", "state", "note"), ROWS)
    assert capsys.readouterr().out == "memory\t[red]ok[/red][2J\ta    b c\nprivacy\tfailed\t\n"


def test_on_a_terminal_there_are_headings_and_no_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    out = Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    print_table(("plugin", "state", "note"), ROWS)
    assert "plugin" in out.getvalue()
    assert "[red]ok[/red][2J" in out.getvalue()
    assert "\x1b[2J" not in out.getvalue()


def test_json_and_errors_are_safe_to_print(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"name": "\x9b\u202eä"})
    print_error("bad \x1b[31m name")
    captured = capsys.readouterr()
    assert captured.out == '{\n  "name": "\\u009b\\u202eä"\n}\n'
    assert captured.err == "isthmus: bad [31m name\n"
