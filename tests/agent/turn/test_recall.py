from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.contracts.recall import RecallCandidate, RecallQuery
from agent.plugin_host import PluginHost
from agent.turn.recall import MOST, ask, rank, recall, recall_item
from tests.agent.turn.builders import a_participant, a_turn, an_account

QUERY = RecallQuery("where is the tea?")


def a_candidate(number: int, lexical: float = 0.0, cosine: float | None = None, *people: str) -> RecallCandidate:
    line = f"ID:{number} fact {number}"
    return RecallCandidate(f"server_memory:{number}", f"fact {number}", line, lexical, cosine, frozenset(people))


CANDIDATES = st.lists(
    st.builds(
        a_candidate,
        st.integers(0, 100),
        st.floats(0, 10),
        st.none() | st.floats(-1, 1),
    ),
    max_size=30,
    unique_by=lambda candidate: candidate.identity,
)


@given(CANDIDATES, st.floats(0, 1))
def test_only_what_fits_is_called_back_and_at_most_six(candidates: list[RecallCandidate], threshold: float) -> None:
    ranked = rank(candidates, QUERY, threshold=threshold)
    assert len(ranked) <= MOST
    assert set(ranked) <= set(candidates)
    assert all(c.lexical > 0 or (c.cosine or -2.0) >= threshold for c in ranked)
    fitting = [c for c in candidates if c.lexical > 0 or (c.cosine is not None and c.cosine >= threshold)]
    assert len(ranked) == min(MOST, len(fitting))


@given(CANDIDATES, st.randoms())
def test_the_order_of_the_candidates_does_not_matter(candidates: list[RecallCandidate], random: object) -> None:
    assert rank(candidates, QUERY, threshold=0.3) == rank(list(reversed(candidates)), QUERY, threshold=0.3)


def test_what_is_by_somebody_whom_the_text_names_comes_first() -> None:
    query = RecallQuery("what does ben like?", named=frozenset({"user:2"}))
    ranked = rank([a_candidate(1, 1.0), a_candidate(2, 0.9, None, "user:2")], query, threshold=0.3)
    assert [c.identity for c in ranked] == ["server_memory:2", "server_memory:1"]


def test_a_document_that_fits_well_comes_before_what_only_concerns_somebody_named() -> None:
    query = RecallQuery("which tap does ben's manual name?", named=frozenset({"user:2"}))
    about_ben = [a_candidate(number, 0.5, 0.3, "user:2") for number in range(1, 8)]
    fitting, unfitting = a_candidate(8, 4.0, 0.8), a_candidate(9, 0.1, 0.3)
    ranked = rank([*about_ben, fitting, unfitting], query, threshold=0.3)
    assert ranked[0] == fitting
    assert unfitting not in ranked


def test_what_is_about_somebody_else_comes_last() -> None:
    query = RecallQuery("what does ben like?", named=frozenset({"user:2"}))
    ranked = rank([a_candidate(1, 1.0, None, "user:3"), a_candidate(2, 0.1, None, "user:2")], query, threshold=0.3)
    assert [c.identity for c in ranked] == ["server_memory:2", "server_memory:1"]


def test_a_name_alone_calls_nothing_back() -> None:
    query = RecallQuery("ben?", named=frozenset({"user:2"}))
    assert rank([a_candidate(2, 0.0, 0.1, "user:2")], query, threshold=0.3) == ()


def test_what_the_prompt_shows_is_not_shown_again() -> None:
    item = recall_item([a_candidate(1), a_candidate(2)], frozenset({"server_memory:1"}))
    assert item is not None
    assert item.render() == "ID:2 fact 2"
    assert recall_item([a_candidate(1)], frozenset({"server_memory:1"})) is None


class Embedding:
    """An embedder that answers, or fails as the test says."""

    name, dimension, threshold = "fixed", 2, 0.5

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    async def embed(self, texts: object) -> list[list[float]]:
        if self.error is not None:
            raise self.error
        return [[1.0, 0.0]]

    async def close(self) -> None: ...


async def test_the_query_names_the_people_in_the_text() -> None:
    ben = replace(a_participant("Ben", 2), handle="ben")
    turn = a_turn("what does ben drink?", people=(a_participant(), ben, a_participant("cleo", 3)))
    assert await ask(turn, None) == RecallQuery("what does ben drink?", named=frozenset({"account:2", "user:2"}))


async def test_the_query_is_embedded_once() -> None:
    query = await ask(a_turn("tea"), Embedding())
    assert (query.vector, query.model) == ((1.0, 0.0), "fixed")


@pytest.mark.parametrize("error", [TimeoutError(), RuntimeError("no model")])
async def test_a_model_that_fails_costs_only_the_vector(error: Exception) -> None:
    query = await ask(a_turn("tea"), Embedding(error))
    assert (query.text, query.vector, query.model) == ("tea", None, None)


class Noting(Embedding):
    """An embedder that keeps what it was asked."""

    asked: object = None

    async def embed(self, texts: object) -> list[list[float]]:
        self.asked = texts
        return await super().embed(texts)


async def test_what_is_embedded_holds_no_names() -> None:
    embedder = Noting()
    people = (a_participant(), a_participant("Anna", 2), a_participant("Anna Berg", 3))
    query = await ask(a_turn("Isthmus, what does Anna Berg drink?", people=people), embedder)
    assert query.text == "Isthmus, what does Anna Berg drink?"
    assert query.named == {"account:3", "user:3"}
    assert embedder.asked == [", what does drink?"]


async def test_a_mention_names_exactly_whom_it_means() -> None:
    ben = a_participant("ben", 2)
    turn = a_turn("what does <@ben> drink?", people=(a_participant(), ben, a_participant("Ben", 3)))
    turn = replace(turn, event=replace(turn.event, mentions=(ben.account.key,)))
    query = await ask(turn, None)
    assert query.text == "what does @ben drink?"
    assert query.named == {"account:2", "user:2"}


async def test_nobody_is_named_by_a_part_of_a_word() -> None:
    people = (a_participant(), a_participant("Alex", 2), a_participant("Alexa", 3))
    assert (await ask(a_turn("is alexa asleep?", people=people), None)).named == {"account:3", "user:3"}


class Hooks(PluginHost):
    """A host whose plugins recall one thing, and that notes the questions."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def implements(self, name: str) -> bool:
        return name == "recall"

    async def collect(self, name: str, /, **values: Any) -> list[Any]:
        self.asked.append(values["query"].text)
        return [[a_candidate(1, 1.0)]]


async def test_nothing_is_called_back_while_a_user_is_impersonated() -> None:
    hooks, turn = Hooks(), a_turn("where is the tea?")
    assert len(await recall(turn, hooks, None)) == 1
    assert await recall(replace(turn, impersonating=an_account("ben", 2)), hooks, None) == ()
    assert hooks.asked == ["where is the tea?"]
