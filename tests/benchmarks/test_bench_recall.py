from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.bench_recall import Outcome, figures, main
from tests.benchmarks.test_recall_methods import TALK


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "chat.json"
    file.write_text(TALK.model_dump_json(), "utf-8")
    return file


def test_the_figures_are_what_they_say() -> None:
    outcomes = [
        Outcome(frozenset({1, 2}), [9, 1, 3, 4, 5, 6, 2], frozenset(), [True, True, False, False], [True]),
        Outcome(frozenset({7}), [], frozenset()),
    ]
    assert figures(outcomes) == {
        "questions": 2,
        "recall_5": 25.0,
        "recall_10": 50.0,
        "mrr": 25.0,
        "attribution_5": 50.0,
        "said_by_5": 100.0,
    }
    assert figures([])["recall_10"] is None


@pytest.mark.parametrize("model", ["off", "local"])
def test_any_file_of_the_form_is_measured(data: Path, model: str) -> None:
    printed: list[str] = []
    assert main(["--data", str(data), "--model", model], printed.append) == 0
    measured = json.loads(printed[0])
    assert measured["model"] == model
    assert measured["conversations"] == {"conversation": {"turns": 5, "people": 3, "questions": 2}}
    for scope in ("each", "one_server"):
        methods = measured[scope]["overall"]
        assert ("vector" in methods) == (model == "local")
        assert methods["ours"]["recall_5"] == 100.0
        assert methods["ours"]["questions"] == 2
        best = max(row["recall_10"] for name, row in methods.items() if name != "ours")
        assert measured[scope]["ahead"]["overall"] == pytest.approx(100.0 - best)
        assert measured[scope]["names_a_person"]["ours"]["said_by_5"] is not None


def test_what_cannot_be_used_is_said(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", str(tmp_path / "none.json")]) == 2
    assert "none.json" in capsys.readouterr().err
    assert main(["--data", str(data), "--model", "psychic"]) == 2
    assert "psychic" in capsys.readouterr().err
    data.write_text(TALK.model_copy(update={"questions": ()}).model_dump_json(), "utf-8")
    assert main(["--data", str(data), "--model", "off"]) == 2
    assert "no question" in capsys.readouterr().err
