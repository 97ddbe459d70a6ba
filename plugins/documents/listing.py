"""How documents and their parts stand in answers to commands, as text and as data. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agent.catalog import translate
from agent.commands import CommandReply, Invocation
from agent.identity.names import normalise
from agent.steps import page_steps
from agent.text import clip, one_line
from plugins.documents.rendering import SHOWN, plain

if TYPE_CHECKING:
    from agent.contracts.people import Persona
    from plugins.documents.document import Chunk, Document, Found


def persona_named(name: str, personas: Iterable[Persona]) -> Persona | None:
    """Return the persona of that name, whatever its case."""
    wanted = normalise(name)
    return next((persona for persona in personas if normalise(persona.nickname) == wanted), None)


def document_text(document: Document, personas: Sequence[Persona], locale: str) -> str:
    """Return a document in one line: its number, title, size, and where it is known."""
    facts = [document.kind.value, translate(locale, "{count} parts", count=document.parts)]
    if document.pages:
        facts.append(translate(locale, "{count} pages", count=document.pages))
    scope = document.scope
    if scope.lineage_id is not None:
        names = [persona.nickname for persona in personas if persona.lineage_id == scope.lineage_id]
        known_to = ", ".join(names) or f"#{scope.lineage_id}"
        facts.append(translate(locale, "only for {names}", names=known_to))
    if scope.channel_ids:
        facts.append(translate(locale, "only in {channels}", channels=", ".join(scope.channel_ids)))
    if scope.audience == "channel":
        facts.append(translate(locale, "never outside {channel}", channel=scope.source_channel_id))
    return f"{document.document_id}: {one_line(document.title)} ({'; '.join(facts)})"


def chunk_text(chunk: Chunk) -> str:
    """Return a part wholly."""
    above = f"{chunk.chunk_id}: {one_line(chunk.heading)}".rstrip(": ")
    return f"{above}\n{chunk.content}"


def found_text(found: Found) -> str:
    """Return what was found in one line: its number, the document, how it begins."""
    return f"{found.chunk.chunk_id} ({one_line(found.title)}): {clip(plain(found.chunk), SHOWN)}"


def paged(call: Invocation, lines: Sequence[str], page: int, pages: int, data: Mapping[str, Any]) -> CommandReply:
    """Return a page of a list, with the steps to its neighbours."""
    text = with_pages(lines, page, pages, call.locale)
    return CommandReply(text, private=True, data=data, steps=page_steps(call, page, pages))


def with_pages(lines: Sequence[str], page: int, pages: int, locale: str) -> str:
    """Return lines with their page, when there are several."""
    if pages > 1:
        lines = [*lines, translate(locale, "Page {page} of {pages}.", page=page, pages=pages)]
    return "\n".join(lines)


def document_data(document: Document) -> dict[str, Any]:
    """Return a document as data."""
    scope = document.scope
    return {
        "document_id": document.document_id,
        "title": document.title,
        "kind": document.kind.value,
        "parts": document.parts,
        "pages": document.pages,
        "bytes": document.size,
        "persona_lineage_id": scope.lineage_id,
        "channels": list(scope.channel_ids),
        "audience": scope.audience.value,
        "created_at": document.created_at.isoformat(),
    }


def chunk_data(chunk: Chunk) -> dict[str, Any]:
    """Return a part as data."""
    return {
        "part_id": chunk.chunk_id,
        "document_id": chunk.document_id,
        "ordinal": chunk.ordinal,
        "heading": chunk.heading,
        "content": chunk.content,
    }


def found_data(found: Found) -> dict[str, Any]:
    """Return what was found as data, with both scores."""
    cosine = None if found.cosine is None else round(found.cosine, 4)
    return {**chunk_data(found.chunk), "title": found.title, "lexical": round(found.lexical, 4), "cosine": cosine}
