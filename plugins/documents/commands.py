"""`/documents`: everybody may look, search and read; managers add, edit and remove."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from agent.catalog import N_, translate
from agent.commands import Command, CommandReply, Invocation, Option, OptionKind, Rights, Step, StepKind
from agent.files import FileRefused
from agent.places import Audience
from plugins.documents.chunking import SIZE
from plugins.documents.library import Upload
from plugins.documents.listing import (
    chunk_data,
    chunk_text,
    document_data,
    document_text,
    found_data,
    found_text,
    paged,
    persona_named,
)
from plugins.documents.refusals import Refused
from plugins.documents.rendering import listed
from plugins.documents.suggesting import Suggesting
from plugins.documents.viewing import scope_of_upload, viewer_of_command

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agent.files import GivenFile
    from agent.personas.repository import Personas
    from plugins.documents.document import Chunk, Document
    from plugins.documents.library import Library

PAGE: Final = 10
"""Documents or parts on one page."""
MOST_FOUND: Final = 6
LONGEST_PART: Final = 2 * SIZE
"""Characters that somebody may write into one part."""

_ID: Final = Option("id", N_("The number of a document or of a part of one."), OptionKind.INTEGER)
_DOCUMENT: Final = Option("id", N_("The number of a document."), OptionKind.INTEGER)
_PAGE: Final = Option("page", N_("Which page."), OptionKind.INTEGER, required=False)
_CHANNEL: Final = Option(
    "channel", N_("The channel to which it belongs, with its threads."), OptionKind.CHANNEL, required=False
)
_PERSONA: Final = Option("persona", N_("The only persona that knows it."), required=False)


class DocumentCommands:
    """The commands, each over the library."""

    def __init__(self, library: Library, personas: Personas) -> None:
        self._library = library
        self._personas = personas

    def commands(self) -> tuple[Command, ...]:
        """Return the commands."""
        suggesting = Suggesting(self._library, self._personas)
        one, document = replace(_ID, suggest=suggesting.documents), replace(_DOCUMENT, suggest=suggesting.documents)
        persona = replace(_PERSONA, suggest=suggesting.personas)
        title = Option("title", N_("What it is called; left out: the file's name."), required=False)
        add = (Option("file", N_("A text, Markdown or PDF file."), OptionKind.FILE), title, _CHANNEL, persona)
        sure = Option("sure", N_("Yes: remove a whole document."), OptionKind.BOOLEAN, required=False)
        who = Option("audience", N_("Who may ever read it."), choices=("server", "channel"))
        return (
            _command("add", N_("Give me a document to look things up in."), self.add, add, changes=True),
            _command("list", N_("Show the documents that are known here."), self.list, (_PAGE,)),
            _command("show", N_("Show a document's parts, or one part."), self.show, (one, _PAGE)),
            _command("search", N_("Look something up."), self.search, (Option("text", N_("What to look for.")),)),
            _command(
                "edit",
                N_("Give a part another text."),
                self.edit,
                (
                    Option("id", N_("The number of a part."), OptionKind.INTEGER),
                    Option("text", N_("Its new text."), long=True, prefill=self.present),
                ),
                changes=True,
            ),
            _command("remove", N_("Remove a part, or a whole document."), self.remove, (one, sure), changes=True),
            _command(
                "rename",
                N_("Give a document another title."),
                self.rename,
                (document, Option("title", N_("Its new title."))),
                changes=True,
            ),
            _command(
                "limit",
                N_("Let a document be known in one more channel only; without a channel: everywhere."),
                self.limit,
                (document, _CHANNEL),
                changes=True,
            ),
            _command(
                "persona",
                N_("Let one persona alone know a document; without a name: every persona."),
                self.persona,
                (document, persona),
                changes=True,
            ),
            _command(
                "audience",
                N_("Say who may ever read a document: everybody here, or the channel where it was uploaded."),
                self.audience,
                (document, who),
                changes=True,
            ),
        )

    # Looking -------------------------------------------------------------------------------------

    async def list(self, call: Invocation) -> CommandReply:
        """Show the documents that may be seen here."""
        documents = await self._library.repository.documents(viewer_of_command(call))
        personas = await self._personas.for_server(call.place.server.server_id)
        page = _page(call, len(documents))
        shown = documents[(page - 1) * PAGE : page * PAGE]
        lines = [document_text(document, personas, call.locale) for document in shown]
        lines = lines or [translate(call.locale, "I have no documents here.")]
        data = {"documents": [document_data(document) for document in shown], "page": page, "count": len(documents)}
        return paged(call, lines, page, _pages(len(documents)), data)

    async def show(self, call: Invocation) -> CommandReply:
        """Show the beginnings of a document's parts, or one part wholly."""
        document, chunk = await self._asked(call)
        if document is None:
            return _not_found(call)
        if chunk is not None:
            return CommandReply(chunk_text(chunk), private=True, data=chunk_data(chunk))
        page = _page(call, document.parts)
        chunks = await self._library.repository.chunks(document.document_id, PAGE, (page - 1) * PAGE)
        personas = await self._personas.for_server(call.place.server.server_id)
        lines = [document_text(document, personas, call.locale), *map(listed, chunks)]
        data = {**document_data(document), "page": page, "parts_shown": [chunk_data(chunk) for chunk in chunks]}
        return paged(call, lines, page, _pages(document.parts), data)

    async def search(self, call: Invocation) -> CommandReply:
        """Show what fits best, as a turn would call it back."""
        found = await self._library.search(viewer_of_command(call), call.options["text"], MOST_FOUND)
        lines = [found_text(each) for each in found] or [translate(call.locale, "I have found nothing.")]
        return CommandReply("\n".join(lines), private=True, data={"found": [found_data(each) for each in found]})

    # Changing ------------------------------------------------------------------------------------

    async def add(self, call: Invocation) -> CommandReply:
        """Read a file and keep it."""
        file: GivenFile = call.options["file"]
        lineage, problem = await self._lineage(call)
        if problem is not None:
            return problem
        channel = call.options.get("channel")
        scope = scope_of_upload(call.place, (channel,) if channel else (), lineage)
        try:
            content = await file.read(self._library.settings.max_file_bytes)
            document = await self._library.add(
                Upload(file.name, content, call.options.get("title"), scope, call.account.account_id)
            )
        except FileRefused as error:
            return _failed(str(error))
        except Refused as refused:
            return _failed(refused.said(call.locale))
        text = translate(
            call.locale,
            "I have read “{title}” and keep it as document {id}, in {count} parts.",
            title=document.title,
            id=document.document_id,
            count=document.parts,
        )
        return CommandReply(text, private=True, data=document_data(document))

    async def edit(self, call: Invocation) -> CommandReply:
        """Give a part another text."""
        document, chunk = await self._asked(call)
        if document is None or chunk is None:
            return _not_found(call)
        content: str = call.options["text"].strip()
        if not content:
            return _failed(translate(call.locale, "A part needs a text; /documents remove takes it away."))
        if len(content) > LONGEST_PART:
            return _failed(translate(call.locale, "A part can have {limit} characters at most.", limit=LONGEST_PART))
        if not await self._library.edit(document, chunk, content):
            return _failed(translate(call.locale, "Somebody else has just changed it: look at it again."))
        return CommandReply(translate(call.locale, "Part {id} has its new text.", id=chunk.chunk_id), private=True)

    async def present(self, call: Invocation) -> str:
        """Return what a part says now; empty when there is none that may be seen here."""
        _, chunk = await self._asked(call)
        return "" if chunk is None else chunk.content

    async def remove(self, call: Invocation) -> CommandReply:
        """Remove a part; of a document only when whoever asks is sure."""
        document, chunk = await self._asked(call)
        if document is None:
            return _not_found(call)
        if chunk is not None:
            content = await self._library.remove_chunk(chunk)
            if content is None:
                return _not_found(call)
            text = translate(call.locale, "Part {id} is removed: {content}", id=chunk.chunk_id, content=content)
            return CommandReply(text, private=True, data=chunk_data(chunk))
        if not call.options.get("sure"):
            text = translate(
                call.locale,
                "This would remove “{title}” with its {count} parts. If you are sure: /documents remove {id} yes",
                title=document.title,
                count=document.parts,
                id=document.document_id,
            )
            label = translate(call.locale, "Remove it")
            step = Step(label, call.command, {"id": document.document_id, "sure": True}, StepKind.CONFIRM)
            return CommandReply(text, private=True, data={"confirm": document.document_id}, steps=(step,))
        if not await self._library.remove(document):
            return _not_found(call)
        text = translate(call.locale, "“{title}” is removed.", title=document.title)
        return CommandReply(text, private=True, data=document_data(document))

    async def rename(self, call: Invocation) -> CommandReply:
        """Give a document another title."""
        return await self._change(call, self._rename)

    async def _rename(self, call: Invocation, document: Document) -> CommandReply:
        title = await self._library.rename(document, call.options["title"])
        return CommandReply(translate(call.locale, "It is called “{title}” now.", title=title), private=True)

    async def limit(self, call: Invocation) -> CommandReply:
        """Add a channel to those that know a document, or let all know it."""
        return await self._change(call, self._limit)

    async def _limit(self, call: Invocation, document: Document) -> CommandReply:
        channel = call.options.get("channel")
        present = document.scope.channel_ids
        channels = (*present, channel) if channel and channel not in present else present if channel else ()
        return await self._scoped(call, document, channel_ids=channels)

    async def persona(self, call: Invocation) -> CommandReply:
        """Let one persona alone know a document, or every one."""
        return await self._change(call, self._give_to_persona)

    async def _give_to_persona(self, call: Invocation, document: Document) -> CommandReply:
        lineage, problem = await self._lineage(call)
        return problem or await self._scoped(call, document, lineage_id=lineage)

    async def audience(self, call: Invocation) -> CommandReply:
        """Say who may ever read a document."""
        return await self._change(call, self._widen)

    async def _widen(self, call: Invocation, document: Document) -> CommandReply:
        audience = Audience(call.options["audience"])
        if audience is Audience.SERVER and call.place.server.is_direct:
            return _failed(translate(call.locale, "What is uploaded in a direct conversation stays there."))
        return await self._scoped(call, document, audience=audience)

    # What they share -----------------------------------------------------------------------------

    async def _asked(self, call: Invocation) -> tuple[Document | None, Chunk | None]:
        """Return the document that is meant, and the part if one was named; (None, None) when it may not be seen."""
        some_id: int = call.options["id"]
        document = await self._library.repository.document(viewer_of_command(call), some_id)
        if document is None or document.document_id == some_id:
            return document, None
        chunk = await self._library.repository.chunk(some_id)
        return (None, None) if chunk is None else (document, chunk)

    async def _change(
        self, call: Invocation, change: Callable[[Invocation, Document], Awaitable[CommandReply]]
    ) -> CommandReply:
        document, _ = await self._asked(call)
        return _not_found(call) if document is None else await change(call, document)

    async def _scoped(self, call: Invocation, document: Document, **changes: Any) -> CommandReply:
        try:
            changed = await self._library.set_scope(document, replace(document.scope, **changes))
        except Refused as refused:
            return _failed(refused.said(call.locale))
        personas = await self._personas.for_server(call.place.server.server_id)
        return CommandReply(document_text(changed, personas, call.locale), private=True, data=document_data(changed))

    async def _lineage(self, call: Invocation) -> tuple[int | None, CommandReply | None]:
        """Return the lineage of the persona that was named, or a refusal; no name: every persona."""
        name = call.options.get("persona")
        if not name:
            return None, None
        personas = await self._personas.for_server(call.place.server.server_id)
        persona = persona_named(name, personas)
        if persona is not None:
            return persona.lineage_id, None
        names = ", ".join(each.nickname for each in personas)
        text = translate(call.locale, "There is no persona {name} here; there are: {names}", name=name, names=names)
        return None, _failed(text)


def _command(
    name: str,
    description: str,
    run: Callable[[Invocation], Awaitable[CommandReply]],
    options: tuple[Option, ...],
    *,
    changes: bool = False,
) -> Command:
    rights = Rights.MANAGE if changes else Rights.EVERYONE
    return Command(("documents", name), description, run, options, rights, private=True, owner="documents")


def _pages(count: int) -> int:
    return max(-(-count // PAGE), 1)


def _page(call: Invocation, count: int) -> int:
    return min(max(int(call.options.get("page") or 1), 1), _pages(count))


def _failed(text: str) -> CommandReply:
    return CommandReply(text, private=True, ok=False)


def _not_found(call: Invocation) -> CommandReply:
    return _failed(translate(call.locale, "There is nothing of that number here."))
