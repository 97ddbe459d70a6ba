"""Everything that is held about a person, for the person: the core's part, then each plugin's."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from asyncpg import Record

from agent.identity.records import account_from
from agent.privacy.repository import UnknownPerson
from agent.store.queries import load_queries

if TYPE_CHECKING:
    from agent.store.pool import Store
    from agent.tools import Json

QUERIES = load_queries(__name__, "export.sql")


class Hooks(Protocol):
    """What an export needs of the plugin host."""

    async def collect_by_plugin(self, name: str, /, **values: Any) -> list[tuple[str, Any]]:
        """Ask every plugin; return each answer with the plugin's name."""
        ...


async def export_person(store: Store, hooks: Hooks, account_id: int, now: datetime) -> dict[str, Json]:
    """Return what is held about an account as JSON values: `exported_at`, `account`, …, `plugins` by name.

    Raises:
        UnknownPerson: there is no such account.
    """
    async with store.connection() as conn, conn.transaction(isolation="repeatable_read", readonly=True):
        row = await conn.fetchrow(QUERIES["account"], account_id)
        if row is None:
            raise UnknownPerson(f"there is no account {account_id}")
        parts = {
            name: await conn.fetch(QUERIES[name], account_id)
            for name in ("names", "settings", "blacklists", "messages")
        }
    plugins = await hooks.collect_by_plugin("export_person", account=account_from(row))
    return {
        "exported_at": now.isoformat(),
        "account": _as_json(row),
        "names": [_as_json(each) for each in parts["names"]],
        "settings": {each["key"]: json.loads(each["value"]) for each in parts["settings"]},
        "blacklists": [_as_json(each) for each in parts["blacklists"]],
        "messages": [_as_json(each) for each in parts["messages"]],
        "plugins": dict(plugins),
    }


def _as_json(row: Record) -> dict[str, Json]:
    return {key: value.isoformat() if isinstance(value, datetime) else value for key, value in row.items()}
