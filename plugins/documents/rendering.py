"""How parts of documents stand in a prompt and in an answer: as data, one line each. Pure functions."""

from __future__ import annotations

from typing import Final

from agent.contracts.recall import RecallCandidate
from agent.text import clip, one_line
from plugins.documents.document import Chunk, Found

SHOWN: Final = 160
"""Characters of a part in a list."""


def heading_of(title: str) -> str:
    """Return the heading above the parts of a document in a prompt."""
    return f"## From the document {one_line(title)}"


def plain(chunk: Chunk) -> str:
    """Return a part as one line, with the headings that it stands below."""
    content = one_line(chunk.content)
    return f"{one_line(chunk.heading)}: {content}" if chunk.heading and chunk.heading != chunk.content else content


def candidate(found: Found) -> RecallCandidate:
    """Return a part that may be called back, as the model sees it: a line of data below the document's title."""
    text = plain(found.chunk)
    return RecallCandidate(
        identity=f"document_chunk:{found.chunk.chunk_id}",
        text=text,
        line=f"DOC:{found.chunk.chunk_id} {text}",
        lexical=found.lexical,
        cosine=found.cosine,
        recency=found.updated_at,
        heading=heading_of(found.title),
    )


def listed(chunk: Chunk) -> str:
    """Return a part as it stands in a list: its id and how it begins."""
    return f"{chunk.chunk_id}: {clip(plain(chunk), SHOWN)}"
