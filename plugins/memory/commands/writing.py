"""`add`, `edit` and `tags`: everything written by hand is protected from giving way."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, assert_never

from agent.catalog import N_, translate
from agent.commands import CommandReply, Invocation
from agent.contracts.memory import MemoryWrite, Origin, WriteKind
from agent.contracts.people import GLOBAL_LINEAGE
from agent.places import audience_of_personal_memory, audience_of_server_memory
from agent.privacy.audit import Act
from agent.text import clean, clip, one_line
from plugins.memory.amending import Amended, amend
from plugins.memory.cards import Wording
from plugins.memory.commands.desk import (
    NOT_FOUND,
    Desk,
    Refused,
    Shelf,
    actor_of,
    acts_for_identity,
    change_of,
    check_writer,
    find,
    memory_id_of,
    personal_shelf,
    record,
    reply,
    seen_version,
    server_shelf,
    shown_versions,
    source_of,
    view,
)
from plugins.memory.commands.rows import Amendment
from plugins.memory.content import Accepted, Empty, TooLong, accept, mentions_user
from plugins.memory.reading import Here
from plugins.memory.rendering import shown_text
from plugins.memory.repository import Edit
from plugins.memory.rules import admits
from plugins.memory.saving import Request, save
from plugins.memory.status import Status, refused_save

if TYPE_CHECKING:
    from agent.contracts.memory import MemorySource
    from agent.contracts.people import Account, Denial
    from agent.tools import Connection, ToolResult
    from plugins.memory.amending import Apply
    from plugins.memory.memory import Memory

MOST_TAGS: Final = 20
TAG_LENGTH: Final = 50
REFUSED: Final = {
    Status.SAVE_PRIVACY_RESTRICTED: N_("The privacy level of this person does not allow it."),
    Status.SAVE_BLACKLISTED: N_("This server wants no memories about this person."),
    Status.SAVE_HOST_PROTECTED: N_("The account behind this identity does not allow it."),
    Status.SAVE_FORGOTTEN: N_("What was said before somebody asked to be forgotten is not kept."),
    Status.SAVE_DISABLED: N_("This server wants no personal memories."),
    Status.SAVE_REFUSED: N_("This may not be kept now."),
    Status.SAVE_INVALID_LINEAGE: N_("This may not be kept now."),
}


def refuse(denial: Denial) -> Refused:
    """Return a guard's refusal as people read it."""
    return Refused(REFUSED[refused_save(denial.code)])


class WritingByHand:
    """The commands that write."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def add_server(self, call: Invocation) -> CommandReply:
        """Save a memory of this server."""
        await check_writer(self._desk, call)
        return await self._add(call, server_shelf(call))

    async def add_personal(self, call: Invocation) -> CommandReply:
        """Save a memory about whoever asks."""
        return await self._add(call, personal_shelf(call))

    async def add_global(self, call: Invocation) -> CommandReply:
        """Save a memory about whoever asks that every persona knows."""
        return await self._add(call, personal_shelf(call, GLOBAL_LINEAGE))

    async def edit_server(self, call: Invocation) -> CommandReply:
        """Replace the text of a memory of this server."""
        await check_writer(self._desk, call, memory_id_of(call.options["id"]))
        return await self._edit(call, server_shelf(call))

    async def edit_personal(self, call: Invocation) -> CommandReply:
        """Replace the text of a memory about whoever asks."""
        return await self._edit(call, personal_shelf(call))

    async def present_server(self, call: Invocation) -> str:
        """Return what a form to edit a memory of this server holds at first."""
        await check_writer(self._desk, call, memory_id_of(call.options["id"]))
        return await self._present(call, server_shelf(call))

    async def present_personal(self, call: Invocation) -> str:
        """Return what a form to edit a memory about whoever asks holds at first."""
        return await self._present(call, personal_shelf(call))

    async def _present(self, call: Invocation, shelf: Shelf) -> str:
        """Return a memory as it is kept, placeholders and all, and note that whoever asks has seen this version."""
        memory, _ = await find(self._desk, call, shelf)
        await record(self._desk, call, Act.READ, [memory])
        shown_versions(self._desk, call, [memory])
        return memory.content

    async def tag_server(self, call: Invocation) -> CommandReply:
        """Replace the tags of a memory of this server."""
        await check_writer(self._desk, call, memory_id_of(call.options["id"]))
        return await self._tag(call, server_shelf(call))

    async def tag_personal(self, call: Invocation) -> CommandReply:
        """Replace the tags of a memory about whoever asks."""
        return await self._tag(call, personal_shelf(call))

    async def change(self, call: Invocation, memory: Memory, apply: Apply, content: str = "") -> Amended:
        """Carry out a change that is based on what whoever asks has seen.

        Raises:
            Refused: a guard denied it, it is gone, or somebody has changed it in between.
        """

        async def read(conn: Connection) -> Memory | None:
            found = await self._desk.rows.find(memory.scope, memory.memory_id, memory.owner_id, conn)
            return found if found is not None and admits(found, call.place, (call.account.user_id,)) else None

        write = change_of(call, memory, WriteKind.UPDATE, content)
        amended = await amend(self._desk.writing, write, seen_version(self._desk, call, memory), read, apply)
        if amended.denial is not None:
            raise refuse(amended.denial)
        if amended.present is None:
            raise Refused(NOT_FOUND, id=memory.memory_id)
        if amended.is_conflict:
            raise await self._conflict(call, amended.present)
        shown_versions(self._desk, call, [replace(amended.present, version=amended.version or 0)])
        return amended

    async def _conflict(self, call: Invocation, present: Memory) -> Refused:
        """Return the refusal that tells what a memory says now, where that may be seen."""
        shelf = Shelf(present.scope, present.owner_id, present.lineage_id)
        seen = await view(self._desk, call, shelf, [present])
        if not seen.memories:
            return Refused(NOT_FOUND, id=present.memory_id)
        shown_versions(self._desk, call, seen.memories)
        return Refused(
            N_("Somebody has changed memory {id} in the meantime. It says now: {content}"),
            id=present.memory_id,
            content=shown_text(present, seen.names),
        )

    async def amended(self, call: Invocation, memory: Memory, given: Amendment) -> Amended:
        """Change a memory beside its text."""

        async def apply(conn: Connection, present: Memory) -> int | None:
            return await self.amend_rows(call, conn, present, given)

        return await self.change(call, memory, apply)

    async def amend_rows(self, call: Invocation, conn: Connection, present: Memory, given: Amendment) -> int | None:
        """Change the row of a memory beside its text, under the lock, and write it down; return the new version."""
        now = self._desk.writing.clock.now()
        version = await self._desk.rows.amend(conn, present, given, actor_of(call), now)
        await record(self._desk, call, Act.EDITED, [present], conn)
        return version

    async def _add(self, call: Invocation, shelf: Shelf) -> CommandReply:
        content = self._accepted(str(call.options["text"]))
        about_caller = shelf.is_personal or mentions_user(content)
        return await self.keep(call, shelf, content, call.account if about_caller else None, source_of(call))

    async def keep(
        self, call: Invocation, shelf: Shelf, text: str, subject: Account | None, source: MemorySource
    ) -> CommandReply:
        """Save a memory by hand, about somebody or nobody.

        Raises:
            Refused: a guard denied it, it is empty or too long, or every place is taken.
        """
        content = self._accepted(text)
        audience = (audience_of_personal_memory if shelf.is_personal else audience_of_server_memory)(call.place)
        is_identity = shelf.is_personal and acts_for_identity(call)
        write = MemoryWrite(
            kind=WriteKind.CREATE,
            scope=shelf.scope,
            server_id=call.place.server.server_id,
            user_id=shelf.owner_id if shelf.is_personal else None,
            lineage_id=shelf.lineage_id,
            content=content,
            audience=audience,
            origin=Origin.COMMAND,
            source=source,
            subject_account_id=None if subject is None or is_identity else subject.account_id,
            subject_user_id=None if subject is None else subject.user_id,
            manually_written=True,
            about_proxy_identity=is_identity,
            host_account_ids=(call.account.account_id,) if is_identity else (),
        )
        user_id = call.account.user_id
        wording = Wording(about="", user=(subject or call.account).display_name, bot=call.persona.nickname)
        request = Request(write, wording, here=Here(call.place, frozenset({user_id}), user_id))
        return _saved(call, await save(self._desk.writing, request))

    async def _edit(self, call: Invocation, shelf: Shelf) -> CommandReply:
        content = self._accepted(str(call.options["text"]))
        memory, _ = await find(self._desk, call, shelf)
        account, user = memory.subject_account_id, memory.subject_user_id
        if not shelf.is_personal and account is None and user is None and mentions_user(content):
            account, user = call.account.account_id, call.account.user_id
        writing = self._desk.writing

        async def apply(conn: Connection, present: Memory) -> int | None:
            edit = Edit(content, present.version, account, user, manually_written=True)
            version = await writing.repository.edit(conn, present, edit, actor_of(call), writing.clock.now())
            await record(self._desk, call, Act.EDITED, [present], conn)
            return version

        changed = replace(memory, subject_account_id=account, subject_user_id=user)
        amended = await self.change(call, changed, apply, content)
        text = translate(call.locale, "Memory {id} says now: {content}", id=memory.memory_id, content=one_line(content))
        return reply(text, memory_id=memory.memory_id, version=amended.version)

    async def _tag(self, call: Invocation, shelf: Shelf) -> CommandReply:
        memory, _ = await find(self._desk, call, shelf)
        tags = tags_of(str(call.options.get("tags") or ""))
        amended = await self.amended(call, memory, Amendment(tags=tags))
        text = translate(
            call.locale,
            "Tags of memory {id}: {tags}",
            id=memory.memory_id,
            tags=", ".join(tags) or translate(call.locale, "none"),
        )
        return reply(text, memory_id=memory.memory_id, tags=list(tags), version=amended.version)

    def _accepted(self, raw: str) -> str:
        match accept(raw, self._desk.writing.settings.max_memory_length):
            case Accepted(content):
                return content
            case Empty():
                raise Refused(N_("There is nothing to keep in this text."))
            case TooLong(length, limit):
                raise Refused(
                    N_("{length} characters are too many: a memory has at most {limit}."), length=length, limit=limit
                )
            case unknown:
                assert_never(unknown)


def tags_of(text: str) -> tuple[str, ...]:
    """Return the tags of a list with commas; too many or too long ones are refused.

    Raises:
        Refused: there are too many, or one is too long.
    """
    tags = tuple(dict.fromkeys(tag for each in text.split(",") if (tag := one_line(clean(each)).strip())))
    if len(tags) > MOST_TAGS or any(len(tag) > TAG_LENGTH for tag in tags):
        raise Refused(
            N_("At most {count} tags of {length} characters each, with commas between them."),
            count=MOST_TAGS,
            length=TAG_LENGTH,
        )
    return tags


def _saved(call: Invocation, result: ToolResult) -> CommandReply:
    """Return what became of an addition; a refusal is raised."""
    memory_id = result.data.get("memory_id")
    data = {"status": result.status, **result.data}
    match Status(result.status):
        case Status.SAVED:
            return reply(translate(call.locale, "Saved as memory {id}.", id=memory_id), **data)
        case Status.SAVED_WITH_EVICTION if not result.data["content_forgotten"]:
            text = translate(call.locale, "Saved as memory {id}. To make room I forgot an old one.", id=memory_id)
            return reply(text, **data)
        case Status.SAVED_WITH_EVICTION:
            forgotten = clip(one_line(str(result.data["content_forgotten"])), 500)
            text = translate(
                call.locale, "Saved as memory {id}. To make room I forgot: {content}", id=memory_id, content=forgotten
            )
            return reply(text, **data)
        case Status.ALREADY_KNOWN:
            text = translate(call.locale, "I know that already, as memory {id}. It is protected now.", id=memory_id)
            return reply(text, **data)
        case Status.SAVE_LIMIT_EXCEEDED:
            raise Refused(N_("Every place is taken ({limit}). Remove a memory first."), limit=result.data["limit"])
        case status:
            raise Refused(REFUSED.get(status, REFUSED[Status.SAVE_REFUSED]))
