"""The form of the recall benchmark's data, read and checked.

A file is one JSON object, `{"conversations": [CONVERSATION, …]}`:

- CONVERSATION: `{"name", "language", "held_out", "turns": [TURN, …], "questions": [QUESTION, …]}`. `language` is an
  ISO 639 code, by default "en"; `held_out` says that nothing may be tuned on it, by default false.
- TURN: `{"id", "speaker", "text"}`. Ids are unique in their conversation; a speaker is a label as the chat shows it,
  and two labels are two people.
- QUESTION: `{"text", "evidence": [ID, …], "about", "asker"}`. `evidence` are the ids of the turns that answer it;
  `about` is the label of the person asked about, or null; `asker` is the label of who asks, or null.

A list of conversations, or a single one, is read as well; so are questions that stand beside the conversations.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

DATA: Final = Path(__file__).parent / "data" / "recall"


class DataError(ValueError):
    """A file is not of the form; the message says where."""


class Turn(BaseModel):
    """What somebody said."""

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)

    id: str
    speaker: str = Field(min_length=1)
    text: str


class Question(BaseModel):
    """What is asked, and the turns that answer it."""

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)

    text: str = Field(min_length=1)
    evidence: tuple[str, ...] = Field(min_length=1)
    about: str | None = None
    asker: str | None = None


class Conversation(BaseModel):
    """Turns in their order, with questions about them."""

    model_config = ConfigDict(frozen=True)

    name: str = "conversation"
    language: str = "en"
    held_out: bool = False
    turns: tuple[Turn, ...] = Field(min_length=1)
    questions: tuple[Question, ...] = ()

    @model_validator(mode="after")
    def _fits_together(self) -> Conversation:
        ids = {turn.id for turn in self.turns}
        if len(ids) != len(self.turns):
            raise ValueError(f"conversation {self.name!r} has two turns of one id")
        for question in self.questions:
            if missing := sorted(set(question.evidence) - ids):
                raise ValueError(f"no turn {missing[0]!r} in {self.name!r}, which answers {question.text!r}")
        return self

    @property
    def speakers(self) -> tuple[str, ...]:
        """Return everybody who speaks, in the order of their first words."""
        return tuple(dict.fromkeys(turn.speaker for turn in self.turns))

    @property
    def people(self) -> tuple[str, ...]:
        """Return everybody who speaks or is asked about."""
        about = (question.about for question in self.questions if question.about is not None)
        return tuple(dict.fromkeys((*self.speakers, *about)))


def load(files: Iterable[Path]) -> tuple[Conversation, ...]:
    """Return the conversations of some files.

    Raises:
        DataError: a file cannot be read or is not of the form.
    """
    return tuple(conversation for file in files for conversation in _load_file(file))


def own_files() -> list[Path]:
    """Return the project's own data, in order of their names."""
    return sorted(DATA.glob("*.json"))


def _load_file(file: Path) -> list[Conversation]:
    try:
        content = json.loads(file.read_text("utf-8"))
        return [Conversation.model_validate(each) for each in _conversations(content, file.stem)]
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, ValidationError) as error:
        raise DataError(f"{file} is no data for the recall benchmark ({__name__} describes it): {error}") from error


def _conversations(content: Any, name: str) -> list[dict[str, Any]]:
    """Return the raw conversations, named, each with its own questions."""
    if isinstance(content, dict):
        single = content if "turns" in content else None
        found = [single] if single else content.get("conversations")
        beside = [] if single else content.get("questions", [])
    else:
        found, beside = content, []
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise DataError(f"{name}: there must be a list of objects below 'conversations'")
    conversations = [{"name": f"{name} {number}", **each} for number, each in enumerate(found, 1)]
    for conversation in conversations:
        ids = {turn.get("id") for turn in conversation.get("turns", []) if isinstance(turn, dict)}
        own = [each for each in beside if isinstance(each, dict) and ids.issuperset(each.get("evidence", []))]
        conversation["questions"] = [*conversation.get("questions", []), *own]
    placed = sum(len(conversation["questions"]) for conversation in conversations)
    if placed < len(beside):
        raise DataError(f"{name}: a question beside the conversations has evidence that stands in none of them")
    return conversations
