"""Everything that is held about a person, for the person: the core's part, then each plugin's."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from asyncpg import Record

from agent.identity.records import account_from
from agent.privacy.repository import UnknownPerson
from agent.store.migrate import read_versions
from agent.store.migration_sets import CORE
from agent.store.queries import load_queries

if TYPE_CHECKING:
    from agent.store.pool import Store
    from agent.tools import Connection, Json

QUERIES = load_queries(__name__, "export.sql")


class Hooks(Protocol):
    """What an export needs of the plugin host."""

    async def collect_by_plugin(self, name: str, /, **values: Any) -> list[tuple[str, Any]]:
        """Ask every plugin; return each answer with the plugin's name."""
        ...

    @property
    def started(self) -> frozenset[str]:
        """Return the names of the plugins that are started."""
        ...

    def implementing(self, hook: str) -> tuple[str, ...]:
        """Return the names of the started plugins that implement a hook."""
        ...


async def export_person(store: Store, hooks: Hooks, account_id: int, now: datetime) -> dict[str, Json]:
    """Return what is held about a person as JSON values.

    `exported_at`; what the core holds of the account (`account`, `names`, `settings`, `blacklists`, `messages`,
    `notices`, `erasures`, `looked_at`); `linked`, the same of each account that is linked to it; `plugins` by name;
    `missing`, the plugins that failed to answer, and those with tables of their own that are switched off.

    Raises:
        UnknownPerson: there is no such account.
    """
    async with store.connection() as conn, conn.transaction(isolation="repeatable_read", readonly=True):
        rows = await conn.fetch(QUERIES["accounts"], account_id)
        if not rows:
            raise UnknownPerson(f"there is no account {account_id}")
        parts = {row["account_id"]: await _core_part(conn, row) for row in rows}
        with_tables = await read_versions(conn)
    (own,) = [row for row in rows if row["account_id"] == account_id]
    plugins = dict(await hooks.collect_by_plugin("export_person", account=account_from(own)))
    switched_off = with_tables.keys() - hooks.started - {CORE.owner}
    missing: list[Json] = [*sorted({*hooks.implementing("export_person"), *switched_off} - plugins.keys())]
    return {
        "exported_at": now.isoformat(),
        **parts[account_id],
        "linked": [part for linked, part in parts.items() if linked != account_id],
        "plugins": plugins,
        "missing": missing,
    }


async def _core_part(conn: Connection, row: Record) -> dict[str, Json]:
    """Return what the core holds of one account."""
    settings = await conn.fetch(QUERIES["settings"], row["account_id"])
    parts: dict[str, Json] = {
        "account": _as_json(row),
        "settings": {each["key"]: json.loads(each["value"]) for each in settings},
    }
    for name in ("names", "blacklists", "messages", "notices", "erasures", "looked_at"):
        parts[name] = [_as_json(each) for each in await conn.fetch(QUERIES[name], row["account_id"])]
    return parts


def _as_json(row: Record) -> dict[str, Json]:
    return {key: value.isoformat() if isinstance(value, datetime) else value for key, value in row.items()}
