"""What was taken over from whose profile, by keyed digests alone."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING

from agent.store.queries import load_queries

if TYPE_CHECKING:
    from datetime import datetime

    from agent.store.pool import Store

QUERIES = load_queries(__name__)


class SeedRepository:
    """Remembers that it was done, and not what or whose."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._key: bytes | None = None

    async def digest(self, identity: str) -> bytes:
        """Return how an identity is known here."""
        if self._key is None:
            async with self._store.connection() as conn:
                await conn.execute(QUERIES["make_key"], secrets.token_bytes(32))
                self._key = bytes(await conn.fetchval(QUERIES["read_key"]))
        return hmac.new(self._key, identity.encode(), hashlib.sha256).digest()

    async def seeded(self, digest: bytes) -> frozenset[str]:
        """Return what was taken over of somebody's profile."""
        async with self._store.connection() as conn:
            return frozenset(row["what"] for row in await conn.fetch(QUERIES["seeded"], digest))

    async def keep(self, digest: bytes, what: str, now: datetime) -> None:
        """Keep that something was taken over."""
        async with self._store.connection() as conn:
            await conn.execute(QUERIES["keep"], digest, what, now)
