"""Host protection: what is remembered about a member also needs the leave of every account that is shared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from agent.contracts.memory import MemoryScope
from agent.contracts.people import Denial, Refusal
from agent.privacy.levels import RULES
from agent.privacy.repository import facts_from
from agent.store.queries import load_queries

if TYPE_CHECKING:
    from agent.contracts.memory import MemoryRead, MemoryWrite
    from agent.privacy.check import PersonFacts
    from agent.store.pool import Store
    from agent.tools import Connection

QUERIES = load_queries("plugins.message_proxy")
PROTECTED: Final = Denial(Refusal.HOST_PROTECTED, "An account behind this identity does not allow it.")
"""In the same words whatever the reason: they disclose nothing about a system."""

type Hosts = Mapping[int, tuple[PersonFacts, ...]]
"""The facts of every host, by the identity's user id."""


def protects(identities: Sequence[int], hosts: Hosts) -> Denial | None:
    """Return why nothing may be kept about some identities: a host that hides or is not wanted here, or none known."""
    for user_id in identities:
        known = hosts.get(user_id, ())
        if not known or any(not RULES[host.privacy].names or host.blacklisted for host in known):
            return PROTECTED
    return None if identities else PROTECTED


def identities_of(write: MemoryWrite) -> tuple[int, ...]:
    """Return the users that a write is about: a personal memory's owner, and the subject."""
    owner = write.user_id if write.scope is MemoryScope.PERSONAL else None
    return tuple(sorted({each for each in (owner, write.subject_user_id) if each is not None}))


class Protection:
    """Asks the database who the hosts are and what counts for them; what fails there has denied."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def get_message_proxy_host_protection(
        self, user_ids: Sequence[int], server_id: int | None, conn: Connection | None = None
    ) -> Denial | None:
        """Return why nothing may be kept about some identities, as it is now or within a transaction."""
        if conn is None:
            async with self._store.connection() as own:
                return await self.get_message_proxy_host_protection(user_ids, server_id, own)
        rows = await conn.fetch(QUERIES["hosts"], list(user_ids), server_id)
        hosts: dict[int, tuple[PersonFacts, ...]] = {}
        for row in rows:
            known = () if row["account_id"] is None else (facts_from(row),)
            hosts[row["identity"]] = hosts.get(row["identity"], ()) + known
        return protects(user_ids, hosts)

    async def check_write(self, write: MemoryWrite) -> Denial | None:
        """Return why a write is refused; asked early, outside of any transaction."""
        if not write.about_proxy_identity:
            return None
        return await self.get_message_proxy_host_protection(identities_of(write), write.server_id)

    async def recheck_write(self, conn: Connection, write: MemoryWrite) -> Denial | None:
        """Return the same within the writing transaction, with the hosts and their privacy locked until it ends.

        The hosts that the write knows of are locked by now. One that was added since is locked here, unless somebody
        is changing it at this moment: then nothing is known of it, and the write is refused.
        """
        if not write.about_proxy_identity:
            return None
        identities = identities_of(write)
        rows = await conn.fetch(QUERIES["share_namespaces"], list(identities))
        namespaces = [row["namespace_id"] for row in rows]
        locked = await conn.fetch(QUERIES["share_hosts"], namespaces)
        if len(locked) != await conn.fetchval(QUERIES["count_hosts"], namespaces):
            return PROTECTED
        return await self.get_message_proxy_host_protection(identities, write.server_id, conn)

    async def check_read(self, read: MemoryRead) -> Denial | None:
        """Return why what is remembered about an identity may not be told: as for a write, and not to its siblings."""
        if not read.about_proxy_identity or read.user_id is None:
            return None
        reader = read.reader_user_id
        if reader is not None and reader != read.user_id and await self._are_related(read.user_id, reader):
            return PROTECTED
        return await self.get_message_proxy_host_protection((read.user_id,), read.server_id)

    async def _are_related(self, user_id: int, other: int) -> bool:
        async with self._store.connection() as conn:
            return bool(await conn.fetchval(QUERIES["related"], user_id, other))
