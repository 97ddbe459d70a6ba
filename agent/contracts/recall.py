"""What is called back for one message: the query, and what plugins offer for it (memory.md, Decay and recall)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """What is looked for: the latest text, embedded once for every plugin."""

    text: str
    vector: tuple[float, ...] | None = None
    """Of the text without the names that it holds, of length one; None when embeddings are off or came too late: then
    words alone count."""
    model: str | None = None
    """The embedding model, by name: only vectors of the same name may be compared with it."""
    named: frozenset[str] = frozenset()
    """The people whom the text names, by key (`user:12`, `account:7`)."""


@dataclass(frozen=True, slots=True)
class RecallCandidate:
    """One thing that may be called back; all candidates of all plugins are ranked together by the core."""

    identity: str
    """Internal, unique in the prompt, as in `server_memory:12`."""
    text: str
    """Plain text, resolved."""
    line: str
    """As the prompt shows it, one line."""
    lexical: float
    """How well the words fit, at least 0; only compared with others of the same search."""
    cosine: float | None
    """Similarity of the vectors; None where there is none."""
    people: frozenset[str] = frozenset()
    """Whom it is by or about, by key as in `RecallQuery.named`."""
    recency: datetime | None = None
    heading: str = ""
    """The heading that it stands below."""
