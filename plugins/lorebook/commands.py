"""`/lorebook …`: anyone may see what applies in this place; changes are for those who manage the server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Final

from agent.catalog import N_, translate, translate_count
from agent.commands import Command, CommandReply, Invocation, Option, OptionKind, Rights, Step, StepKind
from agent.files import FileRefused, ReplyFile
from agent.steps import page_steps
from plugins.lorebook.book import Book, Scope
from plugins.lorebook.editing import BOOK_FIELDS, ENTRY_FIELDS, SCOPE_FIELDS, LoreRefused, lineage_of
from plugins.lorebook.library import BookRefused
from plugins.lorebook.offering import Offering, may_see, number_of
from plugins.lorebook.reading import MAX_FILE
from plugins.lorebook.telling import (
    book_data,
    book_line,
    entry_data,
    entry_line,
    entry_lines,
    scan_data,
    scan_lines,
)
from plugins.lorebook.writing import Form, write_book

if TYPE_CHECKING:
    from plugins.lorebook.context import LoreContext
    from plugins.lorebook.library import Found, Library

PAGE: Final = 10
"""Lines on one page."""

_PAGE: Final = Option("page", N_("Which page."), OptionKind.INTEGER, required=False)
_TARGET: Final = Option("target", N_("The number of an entry, or the name of a lorebook."))

type _Run = Callable[[LorebookCommands, Invocation], Awaitable[CommandReply]]


def _told(run: _Run) -> _Run:
    """Let a command say what was refused."""

    @wraps(run)
    async def told(self: LorebookCommands, call: Invocation) -> CommandReply:
        try:
            return await run(self, call)
        except LoreRefused as refused:
            return _refusal(translate(call.locale, refused.msgid, **refused.values))
        except FileRefused as refused:
            return _refusal(str(refused))
        except BookRefused as refused:
            first = translate(call.locale, "Nothing was imported, because of what is wrong in the file:")
            return _refusal("\n".join([first, *refused.lines]))

    return told


def _refusal(text: str) -> CommandReply:
    return CommandReply(text, private=True, ok=False)


class LorebookCommands:
    """The commands."""

    def __init__(self, library: Library, context: LoreContext) -> None:
        self._library = library
        self._context = context
        self._offering = Offering(library)

    def commands(self) -> tuple[Command, ...]:
        """Return the commands."""
        return (*self._for_everyone(), *self._for_managers(), *self._for_files())

    def _target(self) -> Option:
        return replace(_TARGET, suggest=self._offering.names)

    def _for_everyone(self) -> tuple[Command, ...]:
        said = Option("text", N_("The message."))
        return (
            _command("list", N_("Show the lorebooks of this server."), self.list_books, (_PAGE,)),
            _command("show", N_("Show a lorebook, or one of its entries."), self.show, (self._target(), _PAGE)),
            _command("test", N_("Show which entries a message would call up here, and why."), self.test, (said,)),
        )

    def _for_managers(self) -> tuple[Command, ...]:
        fields = (*dict.fromkeys((*ENTRY_FIELDS, *BOOK_FIELDS, *SCOPE_FIELDS)),)
        names = self._offering.names
        new = (
            Option("book", N_("The lorebook; it is made when there is none of that name."), suggest=names),
            Option("keys", N_("Words that call it up, with commas between; - when it always holds.")),
            Option("content", N_("What is to be known then."), long=True),
        )
        change = (
            self._target(),
            Option("field", N_("What to change."), choices=fields),
            Option("value", N_("The new value."), long=True, prefill=self._offering.present),
        )
        sure = Option("sure", N_("Yes, all of it."), OptionKind.BOOLEAN, required=False)
        manage = Rights.MANAGE
        return (
            _command("add", N_("Add an entry to a lorebook."), self.add, new, manage),
            _command("edit", N_("Change a lorebook, or one of its entries."), self.edit, change, manage),
            _command(
                "remove", N_("Remove a lorebook, or one of its entries."), self.remove, (self._target(), sure), manage
            ),
        )

    def _for_files(self) -> tuple[Command, ...]:
        given = (
            Option("file", N_("A JSON file, or the picture of a character card."), OptionKind.FILE),
            Option("name", N_("What to call it."), required=False),
            Option("persona", N_("The only persona that knows it."), required=False),
            Option("channel", N_("The only channel in which it applies."), OptionKind.CHANNEL, required=False),
            Option("replace", N_("Replace the lorebook of that name."), OptionKind.BOOLEAN, required=False),
        )
        wanted = (
            Option("book", N_("The lorebook."), suggest=self._offering.names),
            Option("form", N_("For which program."), required=False, choices=tuple(Form)),
        )
        taking = N_("Take over a lorebook of SillyTavern or of a character card.")
        return (
            _command("import", taking, self.import_file, given, Rights.MANAGE),
            _command("export", N_("Give a lorebook as a file."), self.export, wanted, Rights.MANAGE),
        )

    @_told
    async def list_books(self, call: Invocation) -> CommandReply:
        """Show the lorebooks that may be known here."""
        listed = await self._library.books(call.place.server.server_id)
        shown = [each for each in listed if may_see(call, each.book)]
        lines, page, steps = _page(call, [book_line(each, call.locale) for each in shown])
        if not lines:
            lines = [translate(call.locale, "There are no lorebooks here.")]
        data = {"lorebooks": [book_data(each.book, each.entries) for each in shown], **page}
        return CommandReply("\n".join(lines), private=True, data=data, steps=steps)

    @_told
    async def show(self, call: Invocation) -> CommandReply:
        """Show a lorebook or an entry."""
        server_id, target = call.place.server.server_id, str(call.options["target"]).strip()
        if (number := number_of(target)) is not None:
            found = await self._library.entry(server_id, number)
            if not may_see(call, found.book):
                raise LoreRefused(N_("There is no entry {entry_id} here."), entry_id=number)
            text = "\n".join(entry_lines(found, call.locale))
            return CommandReply(text, private=True, data=_found_data(found))
        book = await self._library.book(server_id, target)
        if not may_see(call, book):
            raise LoreRefused(N_("There is no lorebook “{name}” here."), name=target)
        lines, page, steps = _page(call, [entry_line(entry, call.locale) for entry in book.entries])
        count = len(book.entries)
        locale, name = call.locale, book.name
        first = translate_count(locale, "“{name}”: {count} entry", "“{name}”: {count} entries", count, name=name)
        data = {**book_data(book, count), "entries": [entry_data(entry) for entry in book.entries], **page}
        return CommandReply("\n".join([first, *lines]), private=True, data=data, steps=steps)

    @_told
    async def test(self, call: Invocation) -> CommandReply:
        """Show what a message would call up."""
        scan = await self._context.test(call.place, call.persona.lineage_id, str(call.options["text"]))
        return CommandReply("\n".join(scan_lines(scan, call.locale)), private=True, data=scan_data(scan))

    @_told
    async def add(self, call: Invocation) -> CommandReply:
        """Add an entry."""
        name = str(call.options["book"])
        keys, content = str(call.options["keys"]), str(call.options["content"])
        found = await self._library.add(call.place.server.server_id, name, keys, content)
        return _changed(call, N_("Added entry {entry_id} to “{name}”."), found)

    @_told
    async def edit(self, call: Invocation) -> CommandReply:
        """Change a field."""
        server_id, target = call.place.server.server_id, str(call.options["target"]).strip()
        field, value = str(call.options["field"]).lower(), str(call.options["value"])
        if (number := number_of(target)) is not None:
            found = await self._library.change_entry(server_id, number, field, value)
            return _changed(call, N_("Changed entry {entry_id} of “{name}”."), found)
        here = call.place.channel.ref.external_id
        book = await self._library.change_book(server_id, target, field, value, here=here)
        text = translate(call.locale, "Changed the lorebook “{name}”.", name=book.name)
        return CommandReply(text, private=True, data=book_data(book, len(book.entries)))

    @_told
    async def remove(self, call: Invocation) -> CommandReply:
        """Remove an entry; a whole lorebook only when somebody is sure."""
        server_id, target = call.place.server.server_id, str(call.options["target"]).strip()
        if (number := number_of(target)) is not None:
            found = await self._library.remove_entry(server_id, number)
            return _changed(call, N_("Removed entry {entry_id} of “{name}”."), found)
        book = await self._library.book(server_id, target)
        count = len(book.entries)
        if not call.options.get("sure"):
            text = translate_count(
                call.locale,
                "This would remove “{name}” with {count} entry. Say it again with sure=yes.",
                "This would remove “{name}” with {count} entries. Say it again with sure=yes.",
                count,
                name=book.name,
            )
            label = translate_count(call.locale, "Remove {count} entry", "Remove {count} entries", count)
            step = Step(label, call.command, {"target": target, "sure": True}, StepKind.CONFIRM)
            return CommandReply(text, private=True, ok=False, steps=(step,))
        await self._library.remove_book(server_id, target)
        text = translate_count(
            call.locale,
            "Removed “{name}” with {count} entry.",
            "Removed “{name}” with {count} entries.",
            count,
            name=book.name,
        )
        return CommandReply(text, private=True, data=book_data(book, count))

    @_told
    async def import_file(self, call: Invocation) -> CommandReply:
        """Take over the lorebook of a file."""
        server_id, file = call.place.server.server_id, call.options["file"]
        channel, persona = call.options.get("channel"), call.options.get("persona")
        scope = None
        if channel or persona:
            lineages = await self._library.lineages(server_id)
            lineage_id = lineage_of(str(persona), lineages) if persona else None
            scope = Scope(lineage_id, (str(channel),) if channel else ())
        imported = await self._library.import_file(
            server_id,
            await file.read(MAX_FILE),
            file.name,
            name=str(call.options.get("name") or "").strip(),
            scope=scope,
            replacing=bool(call.options.get("replace")),
        )
        count = len(imported.book.entries)
        first = translate_count(
            call.locale,
            "Imported “{name}” with {count} entry.",
            "Imported “{name}” with {count} entries.",
            count,
            name=imported.book.name,
        )
        data = {**book_data(imported.book, count), "replaced": imported.replaced, "notes": list(imported.notes)}
        return CommandReply("\n".join([first, *imported.notes]), private=True, data=data)

    @_told
    async def export(self, call: Invocation) -> CommandReply:
        """Give a lorebook as a file."""
        book = await self._library.book(call.place.server.server_id, str(call.options["book"]).strip())
        form = Form(call.options.get("form") or Form.SILLYTAVERN)
        text = translate(call.locale, "The lorebook “{name}”; where it applies is left out.", name=book.name)
        return CommandReply(text, private=True, file=ReplyFile(file_name(book), write_book(book, form)))


def _command(
    name: str,
    description: str,
    run: Callable[[Invocation], Awaitable[CommandReply]],
    options: tuple[Option, ...],
    rights: Rights = Rights.EVERYONE,
) -> Command:
    return Command(("lorebook", name), description, run, options, rights, private=True, owner="lorebook")


def file_name(book: Book) -> str:
    """Return a file name for a lorebook."""
    kept = "".join(character if character.isalnum() or character in " -_" else "_" for character in book.name)
    return f"{kept.strip() or 'lorebook'}.json"


def _changed(call: Invocation, msgid: str, found: Found) -> CommandReply:
    text = translate(call.locale, msgid, entry_id=found.entry.entry_id, name=found.book.name)
    return CommandReply(text, private=True, data=_found_data(found))


def _found_data(found: Found) -> dict[str, Any]:
    return {"entry": entry_data(found.entry), "lorebook": found.book.name}


def _page(call: Invocation, lines: Sequence[str]) -> tuple[list[str], dict[str, Any], tuple[Step, ...]]:
    """Return the lines of the page that is asked for, which one it is, and the steps to its neighbours."""
    pages = max(-(-len(lines) // PAGE), 1)
    page = min(max(int(call.options.get("page") or 1), 1), pages)
    shown = list(lines[(page - 1) * PAGE : page * PAGE])
    if pages > 1:
        shown.append(translate(call.locale, "Page {page} of {pages}.", page=page, pages=pages))
    return shown, {"page": page, "pages": pages}, page_steps(call, page, pages)
