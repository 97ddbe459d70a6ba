"""Calling memories back: which may be, which fit what was said, and which count as fresh again (memory.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from cachetools import LRUCache

from agent.contracts.memory import MemoryScope
from agent.contracts.recall import RecallCandidate
from agent.identity.naming import naming
from agent.search_words import terms
from agent.turn.recall import bearer_of
from plugins.memory.vocabulary import Vocabulary

if TYPE_CHECKING:
    from agent.contracts.context import ContextEntry
    from agent.contracts.recall import RecallQuery
    from agent.identity.naming import Bearer
    from agent.store.frequent_words import FrequentWords
    from agent.turn.values import Turn
    from plugins.memory.memory import Memory
    from plugins.memory.saving import Announces
    from plugins.memory.search import Found, MemorySearch

_TURNS: Final = 64
"""Turns whose memories are held between the standing context and the search, which follows at once."""
_IDENTITY: Final = {f"{scope}_memory": scope for scope in MemoryScope}


@dataclass(frozen=True, slots=True)
class Admitted:
    """The memories that passed every filter of a turn, each with its entry as the prompt would show it.

    Two lists and not one of pairs, because there are a thousand in each turn.
    """

    memories: list[Memory] = field(default_factory=list)
    entries: list[ContextEntry] = field(default_factory=list)

    def add(self, memory: Memory, entry: ContextEntry) -> None:
        """Admit one."""
        self.memories.append(memory)
        self.entries.append(entry)

    def awake(self, asleep: frozenset[int]) -> list[ContextEntry]:
        """Return the entries of all but those that sleep and can be called back."""
        if not asleep:
            return self.entries
        pairs = zip(self.memories, self.entries, strict=True)
        return [entry for memory, entry in pairs if memory.memory_id not in asleep]


class RecallCollector:
    """What each running turn admits, dormant and active."""

    def __init__(self) -> None:
        self._admitted: LRUCache[str, tuple[Admitted, ...]] = LRUCache(_TURNS)

    def put(self, turn_id: str, *admitted: Admitted) -> None:
        """Note what has passed the filters."""
        self._admitted[turn_id] = admitted

    def take(self, turn_id: str) -> dict[int, tuple[Memory, ContextEntry]]:
        """Return it by id, once."""
        admitted = self._admitted.pop(turn_id, ())
        return {
            memory.memory_id: (memory, entry)
            for each in admitted
            for memory, entry in zip(each.memories, each.entries, strict=True)
        }


@dataclass(frozen=True, slots=True)
class MemoryRecall:
    """Offers memories to be called back, and reinforces those that were."""

    search: MemorySearch
    collector: RecallCollector
    frequent: tuple[FrequentWords, ...]
    """The words that say nothing, in each of the tables."""
    revisions: Announces
    vocabulary: Vocabulary = field(default_factory=Vocabulary)

    async def candidates(self, turn: Turn, query: RecallQuery) -> Sequence[RecallCandidate]:
        """Return what fits what was said, of what passed the filters of this turn's standing context."""
        admitted = self.collector.take(turn.turn_id)
        if not admitted or not query.text.strip() or not await self.search.has_embeddings():
            return ()
        frequent = frozenset[str]().union(*[await words.get() for words in self.frequent])
        memories = [memory for memory, _ in admitted.values()]
        words = await self.vocabulary.look_for(terms(query.text, frequent), memories)
        found = await self.search.find(memories, query, words)
        bearers = [bearer for bearer in map(bearer_of, turn.participants) if bearer.keys & query.named]
        return [
            _candidate(entry, each, bearers)
            for each in found
            for memory, entry in (admitted[each.memory_id],)
            if memory.version == each.version  # it still says what the filters were asked about
        ]

    async def reinforce(self, turn: Turn, recalled: Sequence[str]) -> None:
        """Let the memories that were called back count as fresh again: one statement, after the reply."""
        if ids := memory_ids(recalled):
            self.revisions.announce(*await self.search.reinforce(ids, turn.turn_id, turn.now))


def memory_ids(identities: Iterable[str]) -> list[int]:
    """Return the ids of those identities that are memories."""
    parts = (identity.partition(":") for identity in identities)
    return sorted(int(number) for kind, _, number in parts if kind in _IDENTITY)


def _candidate(entry: ContextEntry, found: Found, asked_about: Sequence[Bearer]) -> RecallCandidate:
    """Return a memory that fits; it is also about those of whom the question speaks and whom it names itself."""
    told = entry.text.casefold()
    named = [bearer for bearer in asked_about if not bearer.keys & found.people and _may_name(told, bearer)]
    return RecallCandidate(
        identity=entry.identity,
        text=entry.text,
        line=entry.line,
        lexical=found.lexical,
        cosine=found.cosine,
        people=found.people | naming(entry.text, named).keys if named else found.people,
        recency=entry.recency,
        heading=entry.group,
    )


def _may_name(told: str, bearer: Bearer) -> bool:
    """Tell whether it is worth looking closer; nearly every text is passed over here."""
    return any(name.casefold() in told for name in (bearer.label.partition(" (")[0], *bearer.names))
