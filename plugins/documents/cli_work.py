"""What the commands of `isthmus documents` do: each returns lines for people and the same as data."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agent.cli.errors import CallRefused, CommandFailed
from agent.files import FileRefused, LocalFile
from agent.places import Audience
from plugins.documents.cli import EMBEDDING_SECONDS, Desk
from plugins.documents.library import Upload
from plugins.documents.listing import (
    chunk_data,
    chunk_text,
    document_data,
    document_text,
    found_data,
    found_text,
)
from plugins.documents.viewing import scope_of_operator

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from plugins.documents.document import Chunk, Document, Scope

type Answer = tuple[Sequence[str], Any]

_PARTS = 500
"""Read at once."""


async def add(desk: Desk, file: Path, title: str | None, persona: str | None) -> Answer:
    """Read a file and keep it; return when it can be found by meaning too, or the model takes too long."""
    lineage = None if persona is None else desk.lineage(persona)
    given = LocalFile(file)
    try:
        content = await given.read(desk.library.settings.max_file_bytes)
    except FileRefused as error:
        raise CommandFailed(str(error)) from None
    scope = scope_of_operator(desk.place, desk.channels, lineage)
    document = await desk.library.add(Upload(given.name, content, title, scope, None))
    await _embedded(desk)
    return [document_text(document, desk.personas, "en")], document_data(document)


async def show_all(desk: Desk) -> Answer:
    """Show the documents of a server."""
    documents = await desk.library.repository.documents(desk.viewer)
    lines = [document_text(document, desk.personas, "en") for document in documents]
    return lines or ["no documents"], [document_data(document) for document in documents]


async def show(desk: Desk, some_id: int) -> Answer:
    """Show a document with its parts, or one part."""
    document, chunk = await desk.document(some_id)
    if chunk is not None:
        return [chunk_text(chunk)], chunk_data(chunk)
    chunks: list[Chunk] = []
    while more := await desk.library.repository.chunks(document.document_id, _PARTS, len(chunks)):
        chunks += more
    lines = [document_text(document, desk.personas, "en")]
    for each in chunks:
        lines += ["", chunk_text(each)]
    return lines, {**document_data(document), "content": [chunk_data(each) for each in chunks]}


async def find(desk: Desk, text: str, most: int) -> Answer:
    """Show what fits best, with its scores."""
    found = await desk.library.search(desk.viewer, text, most)
    lines = [
        f"{each.lexical:6.2f}  {'  none' if each.cosine is None else f'{each.cosine:6.3f}'}  {found_text(each)}"
        for each in found
    ]
    return ["words   meaning", *lines] if lines else ["nothing found"], [found_data(each) for each in found]


async def edit(desk: Desk, some_id: int, changes: Mapping[str, Any]) -> Answer:
    """Change a part's text, or a document's title and scope."""
    document, chunk = await desk.document(some_id)
    if chunk is not None:
        return await _edit_part(desk, document, chunk, changes["text"])
    if changes["text"] is not None:
        raise CallRefused(f"--text changes a part, and {some_id} is a document; isthmus documents show {some_id}")
    scope = _changed(desk, document.scope, changes)
    if scope != document.scope:
        document = await desk.library.set_scope(document, scope)
    elif changes["title"] is None:
        raise CallRefused("nothing to change: give --title, --channel, --everywhere, --persona or --audience")
    if changes["title"] is not None:
        document = replace(document, title=await desk.library.rename(document, changes["title"]))
    return [document_text(document, desk.personas, "en")], document_data(document)


async def _edit_part(desk: Desk, document: Document, chunk: Chunk, text: str | None) -> Answer:
    if text is None:
        raise CallRefused(f"{chunk.chunk_id} is a part: give its new text by --text")
    if not text.strip():
        raise CallRefused(f"--text is empty; to take the part away: isthmus documents remove {chunk.chunk_id}")
    if not await desk.library.edit(document, chunk, text):
        raise CommandFailed("somebody else has just changed it: look at it again")
    await _embedded(desk)
    changed = replace(chunk, content=text.strip())
    return [chunk_text(changed)], chunk_data(changed)


def _changed(desk: Desk, scope: Scope, changes: Mapping[str, Any]) -> Scope:
    if desk.channels or changes["everywhere"]:
        scope = replace(scope, channel_ids=desk.channels)
    if changes["persona"] is not None:
        scope = replace(scope, lineage_id=desk.lineage(changes["persona"]))
    if changes["every_persona"]:
        scope = replace(scope, lineage_id=None)
    if changes["audience"] is not None:
        audience = Audience(changes["audience"])
        if audience is Audience.SERVER and desk.place.server.is_direct:
            raise CallRefused("--audience server: what belongs to a direct conversation stays there")
        scope = replace(scope, audience=audience)
    return scope


async def remove(desk: Desk, some_id: int, *, sure: bool) -> Answer:
    """Remove a part, or a document after asking back."""
    document, chunk = await desk.document(some_id)
    if chunk is not None:
        await desk.library.remove_chunk(chunk)
        return [f"removed: {chunk_text(chunk)}"], chunk_data(chunk)
    if not sure:
        await asyncio.to_thread(_ask_back, document)
    await desk.library.remove(document)
    return [f"removed: {document_text(document, desk.personas, 'en')}"], document_data(document)


def _ask_back(document: Document) -> None:
    import typer

    if not sys.stdin.isatty():
        raise CallRefused(f"this removes {document.parts} parts: say so with --yes")
    typer.confirm(f"Remove “{document.title}” with its {document.parts} parts?", abort=True)


async def _embedded(desk: Desk) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(EMBEDDING_SECONDS):
            await desk.agent.core.embedding_worker.idle()
