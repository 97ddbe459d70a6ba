"""Whether memories may be shown: the same question for prompts and for lists."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plugins.memory.rules import subject_identities, withheld_accounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.contracts.memory import MemoryRead
    from agent.privacy.check import PersonFacts
    from agent.privacy.guards import MemoryGuards
    from plugins.memory.memory import Memory


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
