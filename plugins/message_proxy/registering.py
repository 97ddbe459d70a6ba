"""What one attested message changes, in one transaction: system, member, host, the claim, and the index."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from agent.identity.keys import ParticipantKind
from agent.store.claims import take_place_of
from agent.store.queries import load_queries
from plugins.message_proxy.repository import key_of
from plugins.message_proxy.values import Known

if TYPE_CHECKING:
    from datetime import datetime

    from agent.events import MessageCreated
    from agent.store.pool import Store
    from agent.tools import Connection
    from plugins.message_proxy.values import Claim, Found

QUERIES = load_queries("plugins.message_proxy")
SENDERS: Final = [kind.value for kind in ParticipantKind if kind.owns_memories]
"""The kinds of accounts that services name as senders."""


class Registrar:
    """Writes what services attest."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def register(self, claim: Claim, repost: MessageCreated, now: datetime) -> Known | None:
        """Keep who said a message, and take its original's place; None when another message has it already.

        Nothing is kept either when the account has stopped using the instance meanwhile.
        """

        async def write() -> Known | None:
            async with self._store.transaction() as conn:
                return await self._register(conn, claim, repost, now)

        return await self._store.retrying(write)

    async def note_sender(self, instance_id: int, found: Found, platform: str, now: datetime) -> None:
        """Keep that somebody whom a service names as a sender is a host, where the system is known here."""
        async with self._store.connection() as conn:
            known = await conn.fetchrow(
                QUERIES["known_sender"], platform, found.sender_id, SENDERS, instance_id, found.system_key
            )
        if known is not None:
            await self.link(instance_id, found.system_key, known["account_id"], now)

    async def link(self, instance_id: int, system_key: str | None, account_id: int, now: datetime) -> None:
        """Keep which system an account has by its service's word; None: none."""

        async def write() -> None:
            async with self._store.transaction() as conn:
                row = None
                if system_key is not None:
                    await conn.execute(QUERIES["add_namespace"], instance_id, system_key, "")
                    row = await conn.fetchrow(QUERIES["lock_namespace"], instance_id, system_key)
                namespace = None if row is None else row["namespace_id"]
                await conn.fetch(QUERIES["lock_other_namespaces"], instance_id, account_id, namespace)
                await conn.execute(QUERIES["unlink_elsewhere"], instance_id, account_id, namespace)
                if namespace is not None:
                    await conn.execute(QUERIES["link_host"], namespace, account_id, now)

        await self._store.retrying(write)

    async def _register(self, conn: Connection, claim: Claim, repost: MessageCreated, now: datetime) -> Known | None:
        original, instance_id = claim.expectation.event, claim.instance.instance_id
        expected = await conn.fetchrow(QUERIES["lock_expectation"], original.platform, original.message_id, instance_id)
        if expected is None or expected["claimed_by"] not in {None, repost.message_id}:
            return None
        triggers = not claim.expectation.is_command and await take_place_of(
            conn, original.platform, original.event_id, now
        )
        known = await self._identity(conn, claim, now)
        await conn.execute(QUERIES["take_expectation"], original.platform, original.message_id, repost.message_id)
        await conn.execute(
            QUERIES["index_message"],
            repost.platform,
            repost.message_id,
            known.user_id,
            known.account_id,
            original.message_id,
            triggers,
            repost.occurred_at,
        )
        place = (repost.server.platform, repost.server.external_id)
        await conn.execute(QUERIES["note_place"], *place, known.user_id, known.account_id, now)
        hosts = await conn.fetchval(QUERIES["hosts_of"], known.user_id)
        return replace(known, triggers=triggers, hosts=tuple(hosts or ()))

    async def _identity(self, conn: Connection, claim: Claim, now: datetime) -> Known:
        """Bring system, member and host up to date; the locks are taken only when something changes."""
        instance_id, account_id = claim.instance.instance_id, claim.expectation.account_id
        member, name = claim.member, claim.found.system_name
        row = await conn.fetchrow(QUERIES["read_namespace"], instance_id, claim.system_key, account_id, member.key)
        same = (
            row is not None
            and (row["name"], row["is_host"], row["is_elsewhere"]) == (name, True, False)
            and row["user_id"] is not None
        )
        is_new = False
        if same and row is not None:
            namespace, user_id = row["namespace_id"], row["user_id"]
        else:
            namespace = await self._namespace(conn, claim, now)
            user_id = await conn.fetchval(QUERIES["find_identity"], instance_id, member.key)
        if user_id is not None and await conn.fetchval(QUERIES["keep_user"], user_id) is None:
            user_id = None  # forgotten while this waited for it
        if user_id is None:
            user_id, is_new = await conn.fetchval(QUERIES["add_identity"], instance_id, member.key, now), True
        await conn.execute(QUERIES["show_identity"], user_id, namespace, member.name, member.pronouns, now)
        key = key_of(claim.instance.name, member.key)
        return Known(user_id, key, member.name, member.pronouns, name, (), account_id, triggers=False, is_new=is_new)

    async def _namespace(self, conn: Connection, claim: Claim, now: datetime) -> int:
        """Lock the system for a change, and have it with this host and no other system with it."""
        instance_id, account_id = claim.instance.instance_id, claim.expectation.account_id
        await conn.execute(QUERIES["add_namespace"], instance_id, claim.system_key, claim.found.system_name)
        row = await conn.fetchrow(QUERIES["lock_namespace"], instance_id, claim.system_key)
        if row is None:
            raise LookupError("the system that was just kept is gone")
        namespace: int = row["namespace_id"]
        if row["name"] != claim.found.system_name:
            await conn.execute(QUERIES["rename_namespace"], namespace, claim.found.system_name)
        await conn.fetch(QUERIES["lock_other_namespaces"], instance_id, account_id, namespace)
        await conn.execute(QUERIES["unlink_elsewhere"], instance_id, account_id, namespace)
        await conn.execute(QUERIES["link_host"], namespace, account_id, now)
        return namespace
