"""Calling back: one query a turn, candidates of every plugin, one ranking, at most six."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from agent import logs
from agent.contracts.context import ContextEntry, ContextItem, Role, Section, Tag
from agent.contracts.recall import RecallCandidate, RecallQuery
from agent.identity.mentions import Labels, readable
from agent.identity.naming import Bearer, Naming, naming

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent.contracts.people import Participant
    from agent.models.embeddings import Embedder
    from agent.plugin_host import PluginHost
    from agent.turn.values import Turn

log = logs.get_logger(__name__)

MOST: Final = 6
EMBED_DEADLINE: Final = 1.5
"""Seconds that the query's embedding may take; without it words alone count."""


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each kind of evidence counts; chosen by benchmarks/bench_recall.py."""

    lexical: float = 1.0
    vector: float = 1.5
    named: float = 1.75
    """Added for what is by or about somebody whom the text names: more than either of the others alone can give."""
    anybody: float = 0.9
    """Added, when somebody is named, for what may be about anybody, as a document: it shows if it fits well."""


def rank(
    candidates: Iterable[RecallCandidate],
    query: RecallQuery,
    *,
    threshold: float,
    weights: Weights = Weights(),
    most: int = MOST,
) -> tuple[RecallCandidate, ...]:
    """Return the best candidates, best first.

    Both kinds of scores are brought to 0…1 within this search and added. Whatever fits neither by a word nor by a
    similarity above the model's threshold is left out, whoever it is about.
    """
    fitting = [c for c in candidates if c.lexical > 0 or (c.cosine is not None and c.cosine >= threshold)]
    best = max((c.lexical for c in fitting), default=0.0) or 1.0
    cosines = [c.cosine for c in fitting if c.cosine is not None]
    low, high = (min(cosines), max(cosines)) if cosines else (0.0, 1.0)

    def score(candidate: RecallCandidate) -> float:
        near = 0.0 if candidate.cosine is None else (candidate.cosine - low) / ((high - low) or 1.0)
        about = 0.0
        if query.named:
            is_named = not query.named.isdisjoint(candidate.people)
            about = weights.named * is_named if candidate.people else weights.anybody
        return weights.lexical * candidate.lexical / best + weights.vector * near + about

    return tuple(sorted(fitting, key=lambda c: (-score(c), c.identity))[:most])


async def make_query(text: str, said: Naming, embedder: Embedder | None) -> RecallQuery:
    """Return the query for a text and for what it says about whom.

    What is embedded is the text without the names: a name lies near to every text with that name, whatever it is about,
    and whom a row is about is known better from `people`. Embedding is bounded in time and never fails the turn.
    """
    if embedder is None or not text:
        return RecallQuery(text, named=said.keys)
    try:
        async with asyncio.timeout(EMBED_DEADLINE):
            (vector,) = await embedder.embed([said.rest])
    except Exception as error:  # noqa: BLE001 - a model's failure costs only comfort here
        log.warning("query_not_embedded", model=embedder.name, error=type(error).__name__)
        return RecallQuery(text, named=said.keys)
    return RecallQuery(text, tuple(vector), embedder.name, said.keys)


async def ask(turn: Turn, embedder: Embedder | None) -> RecallQuery:
    """Return the turn's query: its text with readable mentions, whom it names, and its vector."""
    others = turn.participants[1:]
    labels = dict(Labels.of(turn.participants).people) | {key.id: turn.bot_name for key in turn.bot_keys}
    text = readable(turn.event.text, Labels(labels)).strip()
    said = naming(text, [Bearer(frozenset(), turn.bot_name), *map(bearer_of, others)])
    mentioned = frozenset(
        key for person in others if person.account.key in turn.event.mentions for key in bearer_of(person).keys
    )
    return await make_query(text, replace(said, keys=said.keys | mentioned), embedder)


def bearer_of(person: Participant) -> Bearer:
    """Return a participant with the names that mean that person."""
    account = person.account
    user_id = person.speaker.user_id
    keys = {f"account:{account.account_id}"} | ({f"user:{user_id}"} if user_id is not None else set())
    return Bearer(frozenset(keys), person.label, (account.username,) if account.username else ())


async def recall(turn: Turn, hooks: PluginHost, embedder: Embedder | None) -> tuple[RecallCandidate, ...]:
    """Return what is called back for a turn, best first; some of it the prompt may show already.

    Nothing while a user is impersonated: such an answer rests on the conversation alone.
    """
    if turn.impersonating is not None or not hooks.implements("recall"):
        return ()
    query = await ask(turn, embedder)
    found: dict[str, RecallCandidate] = {}
    for candidates in await hooks.collect("recall", turn=turn, query=query):
        found |= {candidate.identity: candidate for candidate in candidates}
    threshold = embedder.threshold if embedder is not None else 1.0
    return rank(found.values(), query, threshold=threshold)


def recall_item(recalled: Sequence[RecallCandidate], shown: frozenset[str]) -> ContextItem | None:
    """Return the item of the tail for what is called back and not shown yet."""
    entries = tuple(
        ContextEntry(candidate.identity, candidate.text, candidate.line, candidate.recency, candidate.heading)
        for candidate in sorted(recalled, key=lambda candidate: candidate.heading)
        if candidate.identity not in shown
    )
    return ContextItem(Tag.RECALL, Role.SYSTEM, Section.TAIL, "", entries) if entries else None
