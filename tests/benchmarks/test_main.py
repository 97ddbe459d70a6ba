from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import __main__ as program


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    package = tmp_path / "benchmarks"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "bench_one.py").write_text("print('{\"p50\": 1.5}')\n")
    monkeypatch.setattr(program, "HERE", package)
    return package


def test_the_project_has_benchmarks() -> None:
    assert "hooks" in program.names()


def test_every_benchmark_is_run(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "bench_two.py").write_text("print('{\"p50\": 2}')\n")
    assert program.main([]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed.keys() == {"machine", "one", "two"}
    assert printed["one"] == {"p50": 1.5}
    assert printed["machine"]["fsync_ms"] > 0


def test_a_benchmark_can_be_chosen(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "bench_two.py").write_text("raise SystemExit(1)\n")
    assert program.main(["one"]) == 0
    assert json.loads(capsys.readouterr().out).keys() == {"machine", "one"}


def test_one_that_fails_is_told_beside_the_others(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "bench_two.py").write_text("raise SystemExit(1)\n")
    assert program.main([]) == 1
    printed = json.loads(capsys.readouterr().out)
    assert printed["two"] == {"error": "exit code 1"}
    assert printed["one"] == {"p50": 1.5}


def test_a_wrong_name_is_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["none"]) == 2
    assert capsys.readouterr().err == "there is no benchmark none; there are one\n"
