"""How well the agent finds what was said: `python -m benchmarks.bench_recall` prints JSON; shares are in percent.

Each turn of a chat is a row; a question is to find the turns that answer it. `ours` is the agent's own query and
ranking (agent/turn/recall.py) beside plain BM25 and plain vector search, each with and without the speaker's name in
the text. `each` searches every conversation by itself, `one_server` all of them at once.

- recall_5, recall_10: the share of the evidence that is among the first five, ten.
- mrr: the mean of 1 / the place of the first evidence, 0 where it is not among the first ten.
- attribution_5: of the first five, over the questions that name somebody, the share that is said by or about the person
  asked for; said_by_5: said by that person.

By class: whether a question shares a content word with its evidence (stop words and stems of the language are taken
off), names a person, is not in English; and whether its conversation was looked at when weights were chosen.

`--data FILE …` takes other data; benchmarks/recall_form.py describes the form. `--model` takes what the setting
`[agent] embeddings` takes: `local`, `off`, `openai:MODEL`, `fastembed:MODEL`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from pydantic import ValidationError

from agent.models.embeddings import Embedder, make_embedder
from agent.models.errors import ModelFailed, ModelSetupError
from agent.settings.model import AgentSettings
from benchmarks.recall_form import Conversation, DataError, load, own_files
from benchmarks.recall_methods import Method, Server, methods
from benchmarks.recall_words import shares_word

GOALS: Final = {"recall_10_over_the_best_other": 10, "attribution_5": 90}
WRONG: Final = 2


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one question with one method."""

    evidence: frozenset[int]
    found: Sequence[int]
    classes: frozenset[str]
    by_or_about: Sequence[bool] = ()
    """Of the first five, for a question that names somebody."""
    by: Sequence[bool] = ()

    def recall(self, most: int) -> float:
        """Return the share of the evidence among the first."""
        return len(self.evidence.intersection(self.found[:most])) / len(self.evidence)

    @property
    def reciprocal_rank(self) -> float:
        """Return 1 / the place of the first evidence."""
        return next((1 / rank for rank, place in enumerate(self.found, 1) if place in self.evidence), 0.0)


def figures(outcomes: Sequence[Outcome]) -> dict[str, float | None]:
    """Return the figures of some questions, in percent; None where nothing can be said."""
    by_or_about = [each for outcome in outcomes for each in outcome.by_or_about]
    by = [each for outcome in outcomes for each in outcome.by]
    return {
        "questions": len(outcomes),
        "recall_5": _percent([outcome.recall(5) for outcome in outcomes]),
        "recall_10": _percent([outcome.recall(10) for outcome in outcomes]),
        "mrr": _percent([outcome.reciprocal_rank for outcome in outcomes]),
        "attribution_5": _percent(by_or_about),
        "said_by_5": _percent(by),
    }


def _percent(values: Sequence[float]) -> float | None:
    return round(100 * fmean(values), 1) if values else None


def classes_of(server: Server, number: int) -> frozenset[str]:
    """Return the classes that a question belongs to."""
    conversation, question = server.conversations[number], server.asked[number].question
    evidence = [server.turns[place].text for place in server.places[number]]
    return frozenset(
        {
            "overall",
            "shares_a_word" if shares_word(question.text, evidence, conversation.language) else "shares_no_word",
            "names_nobody" if question.about is None else "names_a_person",
            "english" if conversation.language == "en" else "other_language",
            "held_out" if conversation.held_out else "tuned_on",
        }
    )


async def outcomes_of(server: Server, method: Method) -> list[Outcome]:
    """Ask one method every question."""
    outcomes = []
    for number, asked in enumerate(server.asked):
        found = await method.find(asked)
        about, first = server.about[number], found[:5] if server.about[number] is not None else ()
        outcomes.append(
            Outcome(
                server.places[number],
                found,
                classes_of(server, number),
                [about in server.people[place] for place in first],
                [server.turns[place].speaker == asked.question.about for place in first],
            )
        )
    return outcomes


async def compare(servers: Sequence[Server], embedder: Embedder | None) -> dict[str, Any]:
    """Return the figures of each method by class, and by how much ours is ahead of the best of the others."""
    outcomes: dict[str, list[Outcome]] = {}
    for server in servers:
        for name, method in (await methods(server, embedder)).items():
            outcomes.setdefault(name, []).extend(await outcomes_of(server, method))
    classes = sorted({each for outcome in outcomes["ours"] for each in outcome.classes}, key=_order)
    table = {
        each: {
            name: figures([outcome for outcome in several if each in outcome.classes])
            for name, several in outcomes.items()
        }
        for each in classes
    }
    return {"ahead": {each: _ahead(row) for each, row in table.items()}, **table}


def _order(name: str) -> tuple[bool, str]:
    return name != "overall", name


def _ahead(row: Mapping[str, Mapping[str, float | None]]) -> float:
    """Return by how many points of recall@10 ours is ahead of the best of the others."""
    others = [figures["recall_10"] or 0.0 for name, figures in row.items() if name != "ours"]
    return round((row["ours"]["recall_10"] or 0.0) - max(others), 1)


async def run(conversations: Sequence[Conversation], embedder: Embedder | None) -> dict[str, Any]:
    """Compare the methods over conversations, each alone and all as one server."""
    asked = [conversation for conversation in conversations if conversation.questions]
    return {
        "model": "off" if embedder is None else embedder.name,
        "goals": GOALS,
        "conversations": {
            each.name: {"turns": len(each.turns), "people": len(each.speakers), "questions": len(each.questions)}
            for each in conversations
        },
        "each": await compare([Server([conversation]) for conversation in asked], embedder),
        "one_server": await compare([Server(conversations)], embedder),
    }


def main(arguments: Sequence[str], write: Callable[[str], object] = print) -> int:
    """Print the figures; the exit code is 2 when the data or the model cannot be used."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_recall", description=(__doc__ or "")[:92])
    parser.add_argument("--data", type=Path, nargs="+", default=own_files(), metavar="FILE")
    parser.add_argument("--model", default="local")
    chosen = parser.parse_args(arguments)
    try:
        conversations = load(chosen.data)
        if not any(conversation.questions for conversation in conversations):
            raise DataError("there is no question in the data")
        embedder = make_embedder(AgentSettings(embeddings=chosen.model))
        write(json.dumps(asyncio.run(run(conversations, embedder)), indent=2, ensure_ascii=False))
    except (DataError, ModelFailed, ModelSetupError, ValidationError) as error:
        sys.stderr.write(f"{error}\n")
        return WRONG
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
