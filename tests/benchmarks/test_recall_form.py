from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.recall_form import DataError, load

TURNS: list[dict[str, Any]] = [
    {"id": 1, "speaker": "Ana", "text": "tea is in the tin"},
    {"id": "2", "speaker": "Ben", "text": ""},
]
QUESTION: dict[str, Any] = {"text": "where is the tea?", "evidence": [1], "about": None}


def written(tmp_path: Path, content: object) -> Path:
    file = tmp_path / "chat.json"
    file.write_text(json.dumps(content), "utf-8")
    return file


@pytest.mark.parametrize(
    "content",
    [
        {"conversations": [{"turns": TURNS, "questions": [QUESTION]}]},
        [{"turns": TURNS, "questions": [QUESTION]}],
        {"turns": TURNS, "questions": [QUESTION]},
        {"conversations": [{"turns": TURNS}], "questions": [QUESTION]},
    ],
)
def test_the_form_may_be_written_in_four_ways(tmp_path: Path, content: object) -> None:
    (talk,) = load([written(tmp_path, content)])
    assert [turn.id for turn in talk.turns] == ["1", "2"]
    assert [(each.text, each.evidence) for each in talk.questions] == [("where is the tea?", ("1",))]
    assert (talk.language, talk.held_out, talk.speakers) == ("en", False, ("Ana", "Ben"))


def test_who_is_asked_about_need_not_have_spoken(tmp_path: Path) -> None:
    question = QUESTION | {"about": "Cleo"}
    (talk,) = load([written(tmp_path, {"turns": TURNS, "questions": [question]})])
    assert talk.people == ("Ana", "Ben", "Cleo")


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        ({"turns": TURNS, "questions": [QUESTION | {"evidence": [3]}]}, "no turn '3'"),
        ({"turns": [*TURNS, TURNS[0]], "questions": []}, "two turns of one id"),
        ({"turns": TURNS, "questions": [QUESTION | {"evidence": []}]}, "evidence"),
        ({"turns": [{"id": 1}], "questions": []}, "speaker"),
        ({"conversations": [{"turns": TURNS}], "questions": [QUESTION | {"evidence": [3]}]}, "stands in none"),
        ({"conversations": 3}, "list of objects"),
        (3, "list of objects"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, content: object, wrong: str) -> None:
    with pytest.raises(DataError, match=wrong):
        load([written(tmp_path, content)])


def test_a_file_that_is_no_json_is_named(tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    file.write_text("{")
    with pytest.raises(DataError, match=r"chat\.json"):
        load([file])
    with pytest.raises(DataError, match=r"none\.json"):
        load([tmp_path / "none.json"])
