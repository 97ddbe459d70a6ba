"""Whether memories may be shown: the same question for prompts and for lists."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agent.contracts.memory import MemoryScope
from agent.privacy.check import Facts
from plugins.memory.rules import (
    admits,
    may_be_told,
    readers_of,
    subject_accounts,
    subject_identities,
    withheld_accounts,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.contracts.memory import MemoryRead
    from agent.places import Place
    from agent.privacy.check import PersonFacts
    from agent.privacy.guards import MemoryGuards
    from agent.tools import Connection, ToolContext
    from plugins.memory.memory import Memory
    from plugins.memory.repository import MemoryRepository


@dataclass(frozen=True, slots=True)
class Here:
    """Where an answer is read, and by whom."""

    place: Place
    readers: frozenset[int | None]
    """The user ids of those who take part; None is somebody who has no user row."""
    speaker_user_id: int | None
    """Who speaks: what is about a proxied identity is told to nobody else."""


def here_of(context: ToolContext) -> Here:
    """Return where the result and the notices of a tool are read."""
    readers = readers_of(context.participants, context.account.user_id)
    return Here(context.place, readers, context.speaker.user_id)


async def may_be_shown(
    conn: Connection, repository: MemoryRepository, guards: MemoryGuards, memory: Memory, here: Here
) -> bool:
    """Tell, within a transaction, whether the text of one memory may be shown here: as in a prompt, or less."""
    server_id = here.place.server.server_id
    if not admits(memory, here.place, here.readers):
        return False
    if memory.scope is MemoryScope.PERSONAL:
        people = await repository.facts(conn, (), (memory.owner_id,), server_id)
        about = Facts(people, guards_proxied=False).of_user(memory.owner_id)
        told = may_be_told(about) if about else memory.owner_id == here.speaker_user_id
        told = told and not any(person.personal_off for person in people)
    elif memory.subject_account_id is None and memory.subject_user_id is not None:
        people, told = (), memory.subject_user_id == here.speaker_user_id
    else:
        people = await repository.facts(conn, subject_accounts([memory]), (), server_id)
        told = not withheld_accounts([memory], people)
    if not told:
        return False
    hidden = await guards.hidden_names(server_id, [person.account_id for person in people], conn)
    names = hidden.around if memory.scope is MemoryScope.PERSONAL else hidden.here
    return not names.named_in(memory.content)


async def untellable(
    guards: MemoryGuards, read: MemoryRead, memories: Sequence[Memory], people: tuple[PersonFacts, ...]
) -> frozenset[int]:
    """Return the ids of those server memories whose subject's privacy, blacklisting or guard forbids to tell them.

    `read` is the read of the server's memories that was allowed; `people` are the facts of this moment.
    """
    accounts = withheld_accounts(memories, people)
    identities = set()
    for user_id in sorted(subject_identities(memories)):
        about = replace(read, user_id=user_id, about_proxy_identity=True)
        if await guards.check_read(about, people) is not None:
            identities.add(user_id)
    return frozenset(
        memory.memory_id
        for memory in memories
        if memory.subject_account_id in accounts
        or (memory.subject_account_id is None and memory.subject_user_id in identities)
    )
