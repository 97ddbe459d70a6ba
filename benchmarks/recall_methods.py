"""The ways to look for turns that the recall benchmark compares, each over the turns of one chat server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sumprod
from typing import Final, Protocol

from agent.contracts.recall import RecallCandidate
from agent.identity.naming import Bearer, Naming, naming
from agent.models.embeddings import Embedder
from agent.search_words import terms, with_names, words
from agent.similar_words import WordIndex, with_alike
from agent.text import clean
from agent.turn.recall import make_query, rank
from benchmarks.recall_form import Conversation, Question, Turn

K1: Final = 1.2
B: Final = 0.75
MOST: Final = 10
"""How many turns a question gets back."""
BATCH: Final = 256


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with what it says about whom."""

    question: Question
    said: Naming


class Method(Protocol):
    """A way to look for turns."""

    async def find(self, asked: Asked) -> Sequence[int]:
        """Return the places of at most ten turns, the best first."""
        ...


class Server:
    """The turns that are searched together, and who said what about whom.

    People of two conversations are never one person, whatever they are called.
    """

    def __init__(self, conversations: Sequence[Conversation]) -> None:
        self.turns: list[Turn] = []
        self.people: list[frozenset[str]] = []
        """Whom each turn is by or about."""
        self.asked: list[Asked] = []
        self.places: list[frozenset[int]] = []
        """Where the evidence of each question stands."""
        self.about: list[str | None] = []
        """The key of the person whom each question is about."""
        self.conversations: list[Conversation] = []
        """The conversation of each question."""
        for number, conversation in enumerate(conversations):
            self._add(conversation, f"{number}/")

    def _add(self, conversation: Conversation, prefix: str) -> None:
        bearers = [Bearer(frozenset({prefix + label}), label) for label in conversation.people]
        begin = len(self.turns)
        place = {turn.id: begin + position for position, turn in enumerate(conversation.turns)}
        self.turns += conversation.turns
        self.people += [
            frozenset({prefix + turn.speaker}) | naming(turn.text, bearers).keys for turn in conversation.turns
        ]
        for question in conversation.questions:
            self.asked.append(Asked(question, naming(question.text, bearers)))
            self.places.append(frozenset(place[each] for each in question.evidence))
            self.about.append(None if question.about is None else prefix + question.about)
            self.conversations.append(conversation)


def named_text(turn: Turn) -> str:
    """Return a turn with the name of its speaker, as production searches it."""
    return with_names(turn.text, turn.speaker)


class Bm25:
    """Okapi BM25 over the words of `agent.search_words`: no stop words, no stems."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.lengths = [sum(1 for _ in words(text)) for text in texts]
        self.mean = sum(self.lengths) / len(texts) or 1.0
        self.found: dict[str, dict[int, int]] = {}
        for place, text in enumerate(texts):
            for word, count in Counter(words(text)).items():
                self.found.setdefault(word, {})[place] = count

    async def find(self, asked: Asked) -> Sequence[int]:
        """See `Method`."""
        scores: dict[int, float] = {}
        for word in set(words(asked.question.text)):
            hits = self.found.get(word, {})
            rarity = log(1 + (len(self.lengths) - len(hits) + 0.5) / (len(hits) + 0.5))
            for place, count in hits.items():
                length = 1 - B + B * self.lengths[place] / self.mean
                scores[place] = scores.get(place, 0.0) + rarity * count * (K1 + 1) / (count + K1 * length)
        return _best(scores)


class Vectors:
    """Cosine similarity of the question, as it stands, with the texts."""

    def __init__(self, embedder: Embedder, vectors: Sequence[Sequence[float] | None]) -> None:
        self.embedder = embedder
        self.vectors = vectors

    async def find(self, asked: Asked) -> Sequence[int]:
        """See `Method`."""
        (vector,) = await embed(self.embedder, [asked.question.text])
        if vector is None:
            return ()
        return _best({place: sumprod(vector, each) for place, each in enumerate(self.vectors) if each is not None})


class Lexical:
    """The score that the search in PostgreSQL gives: each word by its rarity, more in a short row than in a long one.

    Words that resemble one that is asked for count too, by their likeness. `plugins/memory/search.sql` has the same
    formula; a test runs it on PostgreSQL.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.words = [frozenset(words(text)) for text in texts]
        self.found: dict[str, list[int]] = {}
        for place, each in enumerate(self.words):
            for word in each:
                self.found.setdefault(word, []).append(place)
        self.index = WordIndex(self.found)

    def scores(self, question: str) -> dict[int, float]:
        """Return the score of each row that has a word of the question, or one that resembles it."""
        scores: dict[int, float] = {}
        for word, likeness in with_alike(terms(question), [self.index]).items():
            hits = self.found.get(word, [])
            for place in hits:
                rarity = likeness * log(1 + len(self.words) / len(hits))
                weight = rarity * 2.2 / (1.3 + 0.9 * len(self.words[place]) / 100)
                scores[place] = scores.get(place, 0.0) + weight
        return scores


class Ours:
    """What the agent does: its query, and its ranking over every turn as a candidate."""

    def __init__(self, server: Server, embedder: Embedder | None, vectors: Sequence[Sequence[float] | None]) -> None:
        self.server = server
        self.embedder = embedder
        self.vectors = vectors
        self.lexical = Lexical([named_text(turn) for turn in server.turns])

    async def find(self, asked: Asked) -> Sequence[int]:
        """See `Method`."""
        query = await make_query(asked.question.text, asked.said, self.embedder)
        lexical = self.lexical.scores(query.text)
        candidates = [
            RecallCandidate(
                identity=f"{place:09}",
                text=turn.text,
                line=turn.text,
                lexical=lexical.get(place, 0.0),
                cosine=None if query.vector is None or vector is None else sumprod(query.vector, vector),
                people=self.server.people[place],
            )
            for place, (turn, vector) in enumerate(zip(self.server.turns, self.vectors, strict=True))
        ]
        threshold = 1.0 if self.embedder is None else self.embedder.threshold
        return [int(found.identity) for found in rank(candidates, query, threshold=threshold, most=MOST)]


async def methods(server: Server, embedder: Embedder | None) -> dict[str, Method]:
    """Return everything that is compared; without an embedder what needs none."""
    plain = [turn.text for turn in server.turns]
    named = [named_text(turn) for turn in server.turns]
    found: dict[str, Method] = {"bm25": Bm25(plain), "bm25_with_names": Bm25(named)}
    vectors: Sequence[Sequence[float] | None] = [None] * len(plain)
    if embedder is not None:
        vectors = await embed(embedder, named)
        found |= {
            "vector": Vectors(embedder, await embed(embedder, plain)),
            "vector_with_names": Vectors(embedder, vectors),
        }
    return {**found, "ours": Ours(server, embedder, vectors)}


async def embed(embedder: Embedder, texts: Sequence[str]) -> list[Sequence[float] | None]:
    """Return the vectors of texts; None for a blank one."""
    vectors: list[Sequence[float] | None] = [None] * len(texts)
    speaking = [place for place, text in enumerate(texts) if clean(text).strip()]
    for begin in range(0, len(speaking), BATCH):
        batch = speaking[begin : begin + BATCH]
        for place, vector in zip(batch, await embedder.embed([texts[place] for place in batch]), strict=True):
            vectors[place] = vector
    return vectors


def _best(scores: dict[int, float]) -> list[int]:
    return sorted(scores, key=lambda place: (-scores[place], place))[:MOST]
