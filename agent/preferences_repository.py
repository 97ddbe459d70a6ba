"""What servers and people have chosen, in the tables server_settings and account_settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agent.preferences import Layer, Preference, PreferenceError
from agent.store.queries import load_queries

if TYPE_CHECKING:
    import asyncpg

    from agent.store.pool import PooledConnection

    type Connection = PooledConnection | asyncpg.Connection[asyncpg.Record]

QUERIES = load_queries("agent", "preferences.sql")


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of both layers, by key; `preferences.resolve` makes values of them."""

    server: dict[str, Any] = field(default_factory=dict)
    person: dict[str, Any] = field(default_factory=dict)


async def read_rows(connection: Connection, server_id: int | None, account_id: int | None) -> Rows:
    """What this server and this account have chosen; None leaves a layer out."""
    rows = Rows()
    for row in await connection.fetch(QUERIES["preference_rows"], server_id, account_id):
        (rows.server if row["layer"] == Layer.SERVER else rows.person)[row["key"]] = row["value"]
    return rows


async def choose(connection: Connection, preference: Preference[Any], layer: Layer, owner: int, value: object) -> None:
    """Store a choice of a server (its id) or a person (an account's id).

    Raises PreferenceError when the layer may not choose, or the value is of another type or beyond the bounds.
    """
    if layer not in preference.layers:
        raise PreferenceError(_refusal(layer), key=preference.key)
    query = "set_server_preference" if layer is Layer.SERVER else "set_account_preference"
    await connection.execute(QUERIES[query], owner, preference.key, preference.check(value))


async def clear(connection: Connection, key: str, layer: Layer, owner: int) -> bool:
    """Forget a choice, so that the layer above holds again; whether there was one."""
    query = "clear_server_preference" if layer is Layer.SERVER else "clear_account_preference"
    return await connection.fetchval(QUERIES[query], owner, key) is not None


def _refusal(layer: Layer) -> str:
    from agent.catalog import N_

    if layer is Layer.PERSON:
        return N_("{key} is set by the server, not by each person.")
    return N_("{key} cannot be changed for a server.")
