"""What a bridge keeps across restarts: short texts by key, secrets encrypted at rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.store.queries import load_queries

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agent.clock import Clock
    from agent.secrets import SecretBox
    from agent.store.pool import Store

QUERIES = load_queries("agent.store", "bridge_state.sql")


class BridgeState:
    """The state of one bridge. Keys are the bridge's own; a value is a text, as in JSON."""

    def __init__(self, store: Store, clock: Clock, bridge: str, box: Callable[[], SecretBox]) -> None:
        """Take the name of the bridge, and what opens the key of this deployment: asked at the first secret."""
        self._store = store
        self._clock = clock
        self._bridge = bridge
        self._box = box

    async def get(self, key: str) -> str | None:
        """Return a value; None when there is none.

        Raises:
            SecretError: it is a secret, and no key of this deployment fits.
        """
        async with self._store.connection() as conn:
            row = await conn.fetchrow(QUERIES["read"], self._bridge, key)
        if row is None:
            return None
        return self._box().decrypt(row["value"]) if row["is_secret"] else str(row["value"])

    async def below(self, prefix: str) -> dict[str, str]:
        """Return every value whose key begins with `prefix`, by key.

        Raises:
            SecretError: one is a secret, and no key of this deployment fits.
        """
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["read_below"], self._bridge, prefix)
        return {row["key"]: self._box().decrypt(row["value"]) if row["is_secret"] else row["value"] for row in rows}

    async def put(self, values: Mapping[str, str], *, secret: bool = False) -> None:
        """Keep values in one statement; what stood under their keys is replaced. Secrets are encrypted."""
        if not values:
            return
        texts = [self._box().encrypt(value) if secret else value for value in values.values()]
        async with self._store.connection() as conn:
            await conn.execute(QUERIES["write"], self._bridge, list(values), texts, secret, self._clock.now())

    async def remove(self, *keys: str) -> None:
        """Forget values; those that are not there are no error."""
        async with self._store.connection() as conn:
            await conn.execute(QUERIES["remove"], self._bridge, list(keys))


async def rotate_secrets(store: Store, box: SecretBox) -> int:
    """Encrypt every stored secret anew with the current key, in one transaction; return how many there are.

    Raises:
        SecretError: one was encrypted with a key that is lost; nothing is changed then.
    """
    async with store.transaction() as conn:
        rows = await conn.fetch(QUERIES["secrets"])
        for row in rows:
            await conn.execute(QUERIES["replace"], row["bridge"], row["key"], box.rotate(row["value"]))
    return len(rows)
