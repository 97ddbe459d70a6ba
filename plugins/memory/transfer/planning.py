"""What an import would write, entry by entry: pure. Faults stop everything; a refusal leaves one entry out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from agent.contracts.memory import MemoryScope, MemorySource, MemoryWrite, Origin, WriteKind
from agent.contracts.people import DEFAULT_LINEAGE, GLOBAL_LINEAGE
from agent.places import Audience
from agent.text import clip
from plugins.memory.content import Accepted, Empty, TooLong, accept
from plugins.memory.transfer.entries import LineageKind

if TYPE_CHECKING:
    from plugins.memory.transfer.entries import Entry, LineageRef, Person, Spot
    from plugins.memory.transfer.repository import KnownAccount

TOOL: Final = "import"
"""What provenance says of imported memories."""
UNDATED: Final = datetime.min.replace(tzinfo=UTC)
"""The age of what has no date, where somebody asked to be forgotten: nothing shows that it is younger."""
_CHOICES: Final = 10
_USUAL: Final = {MemoryScope.SERVER: Audience.SERVER, MemoryScope.PERSONAL: Audience.OPEN}


@dataclass(frozen=True, slots=True)
class Target:
    """Where memories are imported to."""

    platform: str
    server_id: int | None
    """The server that owns server memories, or in which somebody imports their own."""
    takes_server: bool
    user_id: int | None
    """The owner of personal memories; None: the file may hold none."""
    own: frozenset[tuple[str, str]]
    """Platform and id of each of that user's accounts."""
    lineage_id: int
    """For entries that do not say."""
    forced: bool
    """Whether every entry goes to that lineage, whatever it says, but global ones."""
    personas: Sequence[tuple[str, int]]
    """Name and lineage of the personas here."""
    others: Sequence[tuple[str, int]] = ()
    """The same of personas elsewhere that know the user."""
    channel: str | None = None
    """The channel of whoever imports, for what may be read in a channel only and does not say in which."""


@dataclass(frozen=True, slots=True)
class Known:
    """What the database knows of those whom a file names."""

    accounts: Mapping[Person, Sequence[KnownAccount]]
    servers: Mapping[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class Planned:
    """One entry, ready to be written, or the reason why it is left out."""

    entry: Entry
    write: MemoryWrite | None
    reason: str = ""


class Fault(Exception):
    """Something is wrong with an entry, so that nothing of the file is taken."""


def plan(entry: Entry, target: Target, known: Known, limit: int, now: datetime) -> Planned:
    """Return what is to be written; what says that it comes from the future counts as of now.

    Raises:
        Fault: content, persona or owner cannot be taken.
    """
    content = _content(entry, limit)
    lineage_id = lineage_of(entry.lineage, entry.scope, target)
    personal = entry.scope is MemoryScope.PERSONAL
    if personal:
        _check_owner(entry, target)
    subject: KnownAccount | None = None
    if not personal and entry.person is not None:
        found = known.accounts.get(entry.person, ())
        if len(found) != 1:
            return Planned(entry, None, _nobody(entry.person, len(found)))
        [subject] = found
    audience = entry.audience or _USUAL[entry.scope]
    place = _place(entry.spot, audience, target, known, personal=personal)
    if isinstance(place, str):
        return Planned(entry, None, place)
    platform, server_id, channel = place
    said_at = UNDATED if entry.created_at is None else min(entry.created_at, now)
    write = MemoryWrite(
        kind=WriteKind.CREATE,
        scope=entry.scope,
        server_id=target.server_id,
        user_id=target.user_id if personal else None,
        lineage_id=lineage_id,
        content=content,
        audience=audience,
        origin=Origin.IMPORT,
        source=MemorySource(platform, server_id, channel, None, None, TOOL, None, said_at),
        subject_account_id=None if subject is None else subject.account_id,
        subject_user_id=target.user_id if personal else None if subject is None else subject.user_id,
        tags=entry.tags,
    )
    return Planned(entry, write)


def _content(entry: Entry, limit: int) -> str:
    match accept(entry.content, limit):
        case Accepted(content):
            return content
        case Empty():
            raise Fault("content: nothing is left of it once what may not be kept is taken out")
        case TooLong(length, most):
            raise Fault(f"content: at most {most} characters are expected, these are {length}")


def lineage_of(ref: LineageRef, scope: MemoryScope, target: Target) -> int:
    """Return the lineage that an entry goes to: global stays global, then `--persona`, then by name.

    Raises:
        Fault: no persona here bears one of its names; the text lists those that there are.
    """
    if ref.kind is LineageKind.GLOBAL and scope is MemoryScope.PERSONAL:
        return GLOBAL_LINEAGE
    if target.forced or ref.kind is LineageKind.UNSET:
        return target.lineage_id
    if ref.kind is LineageKind.DEFAULT and (
        scope is MemoryScope.PERSONAL
        or not target.personas
        or any(lineage == DEFAULT_LINEAGE for _, lineage in target.personas)
    ):
        return DEFAULT_LINEAGE
    wanted = {name.casefold() for name in ref.names}
    for personas in (target.personas, target.others if scope is MemoryScope.PERSONAL else ()):
        found = {lineage for name, lineage in personas if name.casefold() in wanted}
        if len(found) == 1:
            return found.pop()
        if found:
            raise Fault(f"persona: {_quoted(ref.names)} are several here: say which one with persona")
    choices = _quoted([name for name, _ in target.personas])
    named = _quoted(ref.names) if ref.names else f"of {clip(ref.label, 80)!r}, which has no name,"
    raise Fault(f"persona: {named} is none here; choose with persona one of {choices}")


def _quoted(names: Sequence[str]) -> str:
    shown = ", ".join(repr(clip(name, 80)) for name in names[:_CHOICES])
    return shown + (", …" if len(names) > _CHOICES else "")


def _check_owner(entry: Entry, target: Target) -> None:
    """Let a named owner be only whom the import is for; the name of a foreign program's user counts as anybody's."""
    person = entry.person
    if person is None or person.platform is None or (person.platform, person.external_id) in target.own:
        return
    raise Fault(f"it is a personal memory of {clip(person.label, 120)}, and the import is for somebody else")


def _nobody(person: Person, count: int) -> str:
    shown = clip(person.label, 120)
    if count:
        return f"whom it is about is not clear: several people have the id {shown}"
    return f"it is about {shown}, who has not been seen here, so that nobody could be asked; let them write first"


def _place(
    spot: Spot | None, audience: Audience, target: Target, known: Known, *, personal: bool
) -> tuple[str, int | None, str | None] | str:
    """Return platform, server and channel that a memory counts as said in; a text says why there is none."""
    if audience is Audience.CHANNEL:
        if spot is not None and spot.channel is not None:
            server = known.servers.get((spot.platform, spot.server)) if spot.server is not None else None
            return spot.platform, server, spot.channel
        if target.channel is None:
            return "it may be read in one channel only, and the file does not say in which"
        return target.platform, target.server_id, target.channel
    if audience is Audience.SERVER and personal and spot is not None:
        server = known.servers.get((spot.platform, spot.server or ""))
        if server is None:
            return f"it may be read in the server {clip(spot.server or '', 80)!r} only, which has not been seen here"
        return spot.platform, server, None
    return target.platform, target.server_id, None
