"""Who may read a memory, where it applies, and when it sleeps: pure functions over frozen values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, assert_never

from agent.contracts.memory import MemoryScope
from agent.places import Audience
from agent.privacy.check import Facts, PersonFacts
from agent.privacy.levels import RULES, strictest

if TYPE_CHECKING:
    from agent.contracts.people import Participant
    from agent.places import Place
    from plugins.memory.memory import Memory

UNDO_KEPT: Final = timedelta(hours=24)
"""How long a removed memory can be brought back."""


def is_dormant(last_reinforced_at: datetime | None, created_at: datetime, now: datetime, days: int) -> bool:
    """Tell whether a memory sleeps: `days` have passed since it was last reinforced, or made.

    `memory_is_dormant` says the same in SQL.
    """
    return now - (last_reinforced_at or created_at) > timedelta(days=days)


def admits(memory: Memory, place: Place, readers: Iterable[int | None]) -> bool:
    """Tell whether everyone who can read an answer given here may know this memory (memory.md, Audience).

    `readers` are the user ids of those who take part; None is somebody who has no user row.
    """
    match memory.audience:
        case Audience.OPEN:
            return memory.scope is MemoryScope.PERSONAL or memory.owner_id == place.server.server_id
        case Audience.SERVER:
            home = memory.owner_id if memory.scope is MemoryScope.SERVER else memory.source_server_id
            return home == place.server.server_id
        case Audience.CHANNEL:
            ref = place.channel.ref
            here = {ref.external_id, ref.parent_external_id} - {None}
            return memory.source_platform == place.platform and memory.source_channel_id in here
        case Audience.PERSON:
            if not place.server.is_direct:
                return False
            if memory.scope is MemoryScope.SERVER:
                return memory.owner_id == place.server.server_id
            return all(reader == memory.owner_id for reader in readers)
        case unknown:
            assert_never(unknown)


def applies(memory: Memory, place: Place, *, channel_memory: bool) -> bool:
    """Tell whether a memory's channel scope admits this place; a scope that is not yet resolved counts as empty."""
    return not channel_memory or memory.scope_pending or place.admits_scope(memory.channel_ids)


def readers_of(participants: Iterable[Participant], *others: int | None) -> frozenset[int | None]:
    """Return the user ids of everyone who takes part, by their account; None stands for who has no user row."""
    return frozenset(person.account.user_id for person in participants).union(others)


def subject_accounts(memories: Iterable[Memory]) -> frozenset[int]:
    """Return the accounts that memories are about."""
    return frozenset(memory.subject_account_id for memory in memories if memory.subject_account_id is not None)


def subject_identities(memories: Iterable[Memory]) -> frozenset[int]:
    """Return the users of proxied identities that memories are about: subjects that have no account."""
    return frozenset(
        memory.subject_user_id
        for memory in memories
        if memory.subject_account_id is None and memory.subject_user_id is not None
    )


def withheld_accounts(memories: Iterable[Memory], people: tuple[PersonFacts, ...]) -> frozenset[int]:
    """Return the accounts that memories are about and that privacy or blacklist forbid to tell of.

    So is an account of which nothing is known.
    """
    facts = Facts(people, guards_proxied=False)
    return frozenset(account for account in subject_accounts(memories) if not may_be_told(facts.of_account(account)))


def nameable(
    people: tuple[PersonFacts, ...], accounts: Mapping[int, tuple[str, str]], wanted: Collection[str]
) -> dict[str, str]:
    """Return the names of those mentioned by the platform's ids: nobody who hides, nor whose id two accounts share.

    `accounts`: the platform's id and the name of each account.
    """
    facts = Facts(people, guards_proxied=False)
    found: dict[str, list[str]] = {}
    for account_id, (external_id, name) in accounts.items():
        if external_id in wanted:
            level = strictest(person.privacy for person in facts.of_account(account_id))
            found.setdefault(external_id, []).append(name if RULES[level].names else "")
    return {key: names[0] for key, names in found.items() if len(names) == 1 and names[0]}


def may_be_told(linked: tuple[PersonFacts, ...]) -> bool:
    """Tell whether what is about a person, known by all linked accounts, may be told; not of somebody unknown."""
    level = strictest(person.privacy for person in linked)
    return bool(linked) and RULES[level].shows_memories and not any(person.blacklisted for person in linked)
