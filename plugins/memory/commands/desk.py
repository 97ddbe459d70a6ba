"""What every memory command works with: services, whose memories it is about, and what may be seen of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from agent.catalog import N_, translate
from agent.commands import CommandReply, Invocation
from agent.contracts.memory import MemoryRead, MemoryScope, MemorySource, MemoryWrite, Origin, WriteKind
from agent.identity.keys import ParticipantKind
from agent.identity.names import normalise
from agent.personas.rules import PersonaRefused
from agent.preferences import resolve
from agent.preferences_repository import read_rows
from agent.privacy.audit import Act, Look
from plugins.memory.reading import untellable
from plugins.memory.rendering import Names, labels_of, shown_text
from plugins.memory.repository import Actor
from plugins.memory.rules import admits, subject_accounts
from plugins.memory.seen import SeenVersions
from plugins.memory.toolbox import MEMBER_EDITS

if TYPE_CHECKING:
    from agent.commands import Step
    from agent.confirmations import Confirmations
    from agent.contracts.people import Account
    from agent.identity.people import People
    from agent.personas.repository import Personas
    from agent.plugin_host import PluginHost
    from agent.preferences import Preference
    from agent.privacy.audit import Audit
    from agent.privacy.repository import Privacy
    from agent.tools import Connection
    from plugins.memory.commands.rows import CommandRows
    from plugins.memory.finding import Finder
    from plugins.memory.memory import Memory
    from plugins.memory.saving import Writing
    from plugins.memory.scope_rows import ScopeRows
    from plugins.memory.undo import Forgotten, UndoRows

MOST_ID: Final = 2**63 - 1


class Refused(Exception):
    """A command is not carried out; the sentence says why, and what to do."""

    def __init__(self, msgid: str, **values: object) -> None:
        self.msgid = msgid
        self.values = values
        super().__init__(msgid)


CHANGED: Final = N_("Somebody has changed memory {id} since this was shown. Look at it again.")
NOT_FOUND: Final = N_("There is no memory {id} here. Look at the list for the ids.")


@dataclass(frozen=True, slots=True)
class Desk:
    """The services of the commands."""

    writing: Writing
    rows: CommandRows
    scopes: ScopeRows
    undo: UndoRows
    audit: Audit
    personas: Personas
    confirmations: Confirmations
    privacy: Privacy
    finder: Finder
    hooks: PluginHost
    people: People
    seen: SeenVersions = field(default_factory=SeenVersions)
    """Which version of a memory somebody was shown last, so that an edit is never based on an older one unseen."""

    async def is_on(self, preference: Preference[bool], server_id: int) -> bool:
        """Tell what a server has chosen."""
        async with self.writing.store.connection() as conn:
            rows = await read_rows(conn, server_id, None)
        return resolve(preference, rows.server, {}).value


@dataclass(frozen=True, slots=True)
class Shelf:
    """The memories that a command is about."""

    scope: MemoryScope
    owner_id: int
    lineage_id: int

    @property
    def is_personal(self) -> bool:
        """Tell whether they are a person's."""
        return self.scope is MemoryScope.PERSONAL


@dataclass(frozen=True, slots=True)
class View:
    """What may be seen of some memories where somebody asks."""

    memories: Sequence[Memory]
    names: Names
    elsewhere: int = 0
    """How many may not be shown here."""


type Run = Callable[[Invocation], Awaitable[CommandReply]]


def guarded(run: Run) -> Run:
    """Return the command so that a refusal becomes a calm reply."""

    async def answer(call: Invocation) -> CommandReply:
        try:
            return await run(call)
        except (Refused, PersonaRefused) as refused:
            text = translate(call.locale, refused.msgid, **refused.values)
            return CommandReply(text, private=True, ok=False)

    return answer


def reply(text: str, steps: Sequence[Step] = (), /, **data: Any) -> CommandReply:
    """Return what only whoever asked shall read."""
    return CommandReply(text, private=True, data=data, steps=tuple(steps))


def server_shelf(call: Invocation, lineage_id: int | None = None) -> Shelf:
    """Return the memories of the server where the command is run."""
    lineage = call.persona.lineage_id if lineage_id is None else lineage_id
    return Shelf(MemoryScope.SERVER, call.place.server.server_id, lineage)


def personal_shelf(call: Invocation, lineage_id: int | None = None) -> Shelf:
    """Return the memories about whoever runs the command.

    Raises:
        Refused: the account cannot own any.
    """
    if call.account.user_id is None:
        raise Refused(N_("You have no personal memories: only a linked account can own them."))
    lineage = call.persona.lineage_id if lineage_id is None else lineage_id
    return Shelf(MemoryScope.PERSONAL, call.account.user_id, lineage)


async def check_reader(desk: Desk, call: Invocation) -> None:
    """Let only managers read a server's memories, unless the server has opened them.

    Raises:
        Refused: whoever asks may not.
    """
    if not call.can_manage and not await desk.privacy.members_may_list(call.place.server.server_id):
        raise Refused(N_("Only those who manage this server may do that."))


async def check_writer(desk: Desk, call: Invocation, memory_id: int | None = None) -> None:
    """Let only managers change a server's memories, unless the server has opened them or it is their own.

    Raises:
        Refused: whoever asks may not.
    """
    if call.can_manage or await desk.is_on(MEMBER_EDITS, call.place.server.server_id):
        return
    if memory_id is None or not await desk.rows.is_author(memory_id, call.account):
        raise Refused(N_("Only those who manage this server may do that."))


async def view(desk: Desk, call: Invocation, shelf: Shelf, rows: Sequence[Memory]) -> View:
    """Return what of these memories may be seen here now: audience, privacy, blacklist, guards, and who hides.

    Raises:
        Refused: a guard forbids all of it.
    """
    guards, user_id = desk.writing.guards, call.account.user_id
    here: list[Memory] = [memory for memory in rows if admits(memory, call.place, (user_id,))]
    mentioned = frozenset(key for memory in here for key in memory.mentioned)
    server_id = call.place.server.server_id
    standing = await desk.writing.repository.standing(subject_accounts(here), (), server_id, mentioned=mentioned)
    labels = labels_of(call.place, call.persona.nickname, (), standing.mentioned)
    if shelf.is_personal:
        own = MemoryRead(shelf.scope, server_id, shelf.owner_id, shelf.lineage_id, call.account.account_id)
        if await guards.check_own_read(own) is not None:
            raise Refused(N_("This may not be shown now."))
        names = Names(call.persona.nickname, {}, {shelf.owner_id: call.account.display_name}, labels)
        hiding = await guards.hidden_names(server_id, [call.account.account_id])
        hidden = hiding.around.without({normalise(call.account.display_name)})
    else:
        read = MemoryRead(shelf.scope, shelf.owner_id, None, shelf.lineage_id, call.account.account_id)
        if await guards.check_read(read) is not None:
            raise Refused(N_("This may not be shown now."))
        withheld = await untellable(guards, read, here, standing.people)
        here = [memory for memory in here if memory.memory_id not in withheld]
        names = Names(call.persona.nickname, standing.names, {}, labels)
        hidden = (await guards.hidden_names(shelf.owner_id)).here
    told = [memory for memory in here if not hidden.named_in(shown_text(memory, names))]
    return View(told, names, len(rows) - len(told))


async def find(desk: Desk, call: Invocation, shelf: Shelf) -> tuple[Memory, Names]:
    """Return the memory of the option `id`, if it may be seen here.

    Raises:
        Refused: there is none; nothing tells that from one that may not be seen.
    """
    memory_id = memory_id_of(call.options["id"])
    memory = await desk.rows.find(shelf.scope, memory_id, shelf.owner_id)
    seen = await view(desk, call, shelf, [] if memory is None else [memory])
    if not seen.memories:
        raise Refused(NOT_FOUND, id=memory_id)
    return seen.memories[0], seen.names


def memory_id_of(given: object) -> int:
    """Return an id that may be asked for.

    Raises:
        Refused: it is no id.
    """
    if isinstance(given, int) and not isinstance(given, bool) and 0 < given <= MOST_ID:
        return given
    raise Refused(NOT_FOUND, id=str(given)[:20])


def actor_of(call: Invocation) -> Actor:
    """Return who changes something, and by which command."""
    return Actor(call.account.account_id, None, path_of(call))


def path_of(call: Invocation) -> str:
    """Return the command as it is typed."""
    return "/" + " ".join(call.command)


def source_of(call: Invocation) -> MemorySource:
    """Return where a memory that is written by a command comes from."""
    return MemorySource(
        platform=call.place.platform,
        server_id=call.place.server.server_id,
        channel_external_id=call.place.channel.ref.external_id,
        message_id=None,
        turn_id=None,
        tool=path_of(call),
        author_account_id=call.account.account_id,
        occurred_at=call.now,
    )


def change_of(call: Invocation, memory: Memory, kind: WriteKind, content: str = "") -> MemoryWrite:
    """Return a change of a memory as guards and locks see it."""
    is_server = memory.scope is MemoryScope.SERVER
    subject_user = memory.subject_user_id if is_server else memory.owner_id
    return MemoryWrite(
        kind=kind,
        scope=memory.scope,
        server_id=memory.owner_id if is_server else call.place.server.server_id,
        user_id=None if is_server else memory.owner_id,
        lineage_id=memory.lineage_id,
        content=content or memory.content,
        audience=memory.audience,
        origin=Origin.COMMAND,
        source=source_of(call),
        subject_account_id=memory.subject_account_id,
        subject_user_id=subject_user,
        manually_written=True,
        about_proxy_identity=acts_for_identity(call)
        if not is_server
        else memory.subject_account_id is None and memory.subject_user_id is not None,
        host_account_ids=(call.account.account_id,) if acts_for_identity(call) else (),
    )


def acts_for_identity(call: Invocation) -> bool:
    """Tell whether a command is about one of the proxied identities of whoever asks (`identities.as_account`)."""
    return call.account.key.kind is ParticipantKind.PROXY_IDENTITY


async def record(
    desk: Desk, call: Invocation, act: Act, memories: Sequence[Memory], conn: Connection | None = None
) -> None:
    """Write down, for the people whom these server memories are about, that somebody looks at or changes them."""
    about = Counter(
        (memory.subject_account_id, memory.subject_user_id)
        for memory in memories
        if memory.scope is MemoryScope.SERVER and (memory.subject_account_id or memory.subject_user_id)
    )
    actor, server_id = call.account.account_id, call.place.server.server_id
    looks = [
        Look(act, path_of(call), actor, server_id, account, user, count) for (account, user), count in about.items()
    ]
    await desk.audit.record(looks, call.now, conn)


def shown_versions(desk: Desk, call: Invocation, memories: Sequence[Memory]) -> None:
    """Note which versions somebody has seen."""
    for memory in memories:
        desk.seen.note(_reader(call), memory)


def seen_version(desk: Desk, call: Invocation, memory: Memory) -> int | None:
    """Return the version that somebody has seen last; None when they have not been shown the memory.

    A button tells the version of its card.
    """
    if (version := version_of(call)) is not None:
        return version
    return desk.seen.version(_reader(call), memory)


def version_of(call: Invocation) -> int | None:
    """Return the version that the card of a button showed; None where somebody has typed the command."""
    version = call.options.get("version")
    return version if isinstance(version, int) else None


def is_author_of(forgotten: Forgotten, account: Account) -> bool:
    """Tell whether a memory that is gone was made on behalf of this person."""
    return forgotten.author_account_id == account.account_id or (
        account.user_id is not None and forgotten.author_user_id == account.user_id
    )


def _reader(call: Invocation) -> str:
    return f"account:{call.account.account_id}"
