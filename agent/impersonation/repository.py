"""Wishes for an answer in somebody's style, kept until one answer in their channel has used them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

from agent.cache import RevisionedCache
from agent.identity.records import account_from
from agent.impersonation.rules import CONSENT, LASTS, Standing, may_be_impersonated
from agent.store.queries import load_queries
from agent.store.revisions import bump
from agent.turn.values import server_owner

if TYPE_CHECKING:
    from agent.clock import Clock
    from agent.contracts.people import Account
    from agent.invalidation import Invalidation
    from agent.places import Place
    from agent.store.pool import Store
    from agent.tools import Connection
    from agent.turn.values import Turn

QUERIES = load_queries(__name__)
_SERVERS: Final = 2_048
_SECONDS: Final = 600.0
_RESUMED: Final = timedelta(minutes=10)
"""So long after its end a wish is still looked for, because an answer that has used it may be begun again."""


class Impersonations:
    """The wishes of all channels. A turn without one costs no query: the server's revision tells of new ones."""

    def __init__(self, store: Store, revisions: Invalidation, clock: Clock) -> None:
        self._store = store
        self._revisions = revisions
        self._clock = clock
        self._waiting: RevisionedCache[Mapping[int, datetime]] = RevisionedCache(
            size=_SERVERS, seconds=_SECONDS, clock=clock
        )
        revisions.listen(self._waiting.evict)

    async def standing(self, account_id: int, server_id: int) -> Standing:
        """Return what counts for somebody in a server now.

        Raises:
            LookupError: there is no such account.
        """
        async with self._store.connection() as conn:
            return await _standing(conn, account_id, server_id)

    async def arrange(self, place: Place, target: Account, asker: Account, *, by_right: bool) -> datetime:
        """Have the next answer in a channel be in somebody's style; return until when it waits."""
        server_id, now = place.server.server_id, self._clock.now()
        values = (place.channel.channel_id, server_id, target.account_id, asker.account_id, by_right, now + LASTS)
        async with self._store.transaction() as conn:
            await conn.execute(QUERIES["sweep"], now - _RESUMED)
            await conn.execute(QUERIES["arrange"], *values)
            await bump(conn, [server_owner(server_id)])
        self._revisions.announce(server_owner(server_id))
        return now + LASTS

    async def cancel(self, place: Place) -> bool:
        """Let go of the wish for a channel; tell whether one was waiting."""
        async with self._store.connection() as conn:
            gone = await conn.fetchval(QUERIES["cancel"], place.channel.channel_id, self._clock.now())
        return gone is not None

    async def applied(self, turn: Turn) -> Turn:
        """Return the turn with whom it impersonates: the wish for its channel is used by it, and by no other turn.

        Somebody who has meanwhile restricted their privacy, was blacklisted or has taken back their consent is not
        impersonated.
        """
        place, owner = turn.place, server_owner(turn.place.server.server_id)
        load = partial(self._load, place.server.server_id)
        waiting = (
            await self._waiting.get(owner, turn.revisions[owner], load) if owner in turn.revisions else await load()
        )
        until = waiting.get(place.channel.channel_id)
        if until is None or until + _RESUMED <= self._clock.now():
            return turn
        target = await self._claim(turn)
        return turn if target is None else replace(turn, impersonating=target)

    async def _claim(self, turn: Turn) -> Account | None:
        async with self._store.connection() as conn:
            row = await conn.fetchrow(
                QUERIES["claim"], turn.place.channel.channel_id, turn.event.event_id, self._clock.now()
            )
            if row is None:
                return None
            standing = await _standing(conn, row["account_id"], turn.place.server.server_id)
        return standing.account if may_be_impersonated(standing, by_right=row["by_right"]) else None

    async def _load(self, server_id: int) -> Mapping[int, datetime]:
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["waiting"], server_id, self._clock.now() - _RESUMED)
        return {row["channel_id"]: row["expires_at"] for row in rows}


async def _standing(conn: Connection, account_id: int, server_id: int) -> Standing:
    row = await conn.fetchrow(QUERIES["standing"], account_id, server_id, CONSENT.key)
    if row is None:
        raise LookupError(f"there is no account {account_id}")
    return Standing(account_from(row), bool(row["restricted"]), frozenset(row["consents"]))
