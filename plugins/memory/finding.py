"""What somebody looks for among memories that they may see: by meaning and by words, ranked as recall ranks."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

from agent.contracts.recall import RecallCandidate
from agent.identity.naming import Bearer, naming
from agent.search_words import terms, words_to_keep
from agent.similar_words import WordIndex, with_alike
from agent.turn.recall import make_query, rank

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.models.embeddings import Embedder
    from plugins.memory.memory import Memory
    from plugins.memory.search import MemorySearch


@dataclass(frozen=True, slots=True)
class Finder:
    """Looks for memories; by words alone where nothing can be searched by meaning."""

    search: MemorySearch
    embedder: Embedder | None

    async def find(
        self, question: str, shown: Sequence[tuple[Memory, str]], names: Mapping[int, str]
    ) -> Sequence[tuple[Memory, str]]:
        """Return what fits, the best first.

        `shown` are memories with their texts as whoever asks reads them; `names` are those of accounts they are about.
        """
        embedder = self.embedder if await self.search.has_embeddings() else None
        bearers = [Bearer(frozenset({f"account:{account}"}), name) for account, name in names.items() if name]
        query = await make_query(question, naming(question, bearers), embedder)
        cosines = await self.search.measure([memory for memory, _ in shown], query)
        scores = lexical_scores(question, [text for _, text in shown])
        candidates = [
            RecallCandidate(
                identity=str(place),
                text=text,
                line=text,
                lexical=scores.get(place, 0.0),
                cosine=cosines.get(memory.memory_id),
                people=_people(memory),
            )
            for place, (memory, text) in enumerate(shown)
        ]
        threshold = 1.0 if embedder is None else embedder.threshold
        ranked = rank(candidates, query, threshold=threshold, most=len(shown))
        return [shown[int(candidate.identity)] for candidate in ranked]


def _people(memory: Memory) -> frozenset[str]:
    account_id = memory.subject_account_id
    return frozenset() if account_id is None else frozenset({f"account:{account_id}"})


def lexical_scores(question: str, texts: Sequence[str]) -> dict[int, float]:
    """Return, by place, how well the words of texts fit: the formula of search.sql, for texts with their names."""
    rows = [words_to_keep(text) for text in texts]
    found: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        for word in row:
            found.setdefault(word, []).append(place)
    scores: dict[int, float] = {}
    for word, likeness in with_alike(terms(question), [WordIndex(found)]).items():
        hits = found.get(word, [])
        for place in hits:
            weight = likeness * log(1 + len(rows) / len(hits)) * 2.2 / (1.3 + 0.9 * len(rows[place]) / 100)
            scores[place] = scores.get(place, 0.0) + weight
    return scores
