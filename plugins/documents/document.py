"""Documents and their parts as frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from asyncpg import Record

from agent.places import Audience
from plugins.documents.kinds import Kind


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a document is known, and who may ever read it."""

    server_id: int
    lineage_id: int | None
    """None: every persona of the server knows it."""
    channel_ids: tuple[str, ...]
    """Empty: in every channel; otherwise in these and their threads."""
    audience: Audience
    """`server` or `channel`: what was uploaded in a channel that not everybody reads stays there."""
    source_platform: str
    source_channel_id: str | None


@dataclass(frozen=True, slots=True)
class Document:
    """A document without its text."""

    document_id: int
    title: str
    kind: Kind
    scope: Scope
    parts: int
    pages: int | None
    size: int
    """Bytes of the file."""
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Chunk:
    """One part of a document as it is kept."""

    chunk_id: int
    document_id: int
    ordinal: int
    heading: str
    content: str
    version: int


@dataclass(frozen=True, slots=True)
class ReadPart:
    """A part as it was read from a file."""

    heading: str
    content: str
    words: str
    """Between spaces."""


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file that was read."""

    kind: Kind
    pages: int | None
    parts: tuple[ReadPart, ...]


@dataclass(frozen=True, slots=True)
class Viewer:
    """From where somebody looks: what they may see follows from it."""

    server_id: int
    platform: str
    lineage_id: int | None = None
    """None: documents of every lineage."""
    channels: tuple[str, ...] | None = None
    """The channel and the one above it; None: the operator, who sees everything."""
    in_scope_only: bool = False
    """Whether a channel scope withholds, as it does from a prompt; somebody who manages documents sees them all."""


@dataclass(frozen=True, slots=True)
class Found:
    """A part that a search has found."""

    chunk: Chunk
    title: str
    lexical: float
    cosine: float | None
    updated_at: datetime


def document_from_row(row: Record) -> Document:
    """Return the document of a row."""
    scope = Scope(
        row["server_id"],
        row["persona_lineage_id"],
        tuple(row["channel_disc_ids"]),
        Audience(row["audience"]),
        row["source_platform"],
        row["source_channel_id"],
    )
    return Document(
        row["document_id"],
        row["title"],
        Kind(row["kind"]),
        scope,
        row["parts"],
        row["pages"],
        row["bytes"],
        row["created_at"],
    )


def chunk_from_row(row: Record) -> Chunk:
    """Return the part of a row."""
    return Chunk(row["chunk_id"], row["document_id"], row["ordinal"], row["heading"], row["content"], row["version"])
