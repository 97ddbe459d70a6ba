"""Who looked at or changed what is about others: a trail that only grows, without any content.

Whoever shows or changes such things writes it (`core.audit.record`), before anything is shown or within the
transaction of the change; the person whom it is about reads it (`/privacy audit`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from agent.store.queries import load_queries

if TYPE_CHECKING:
    from agent.store.pool import Store
    from agent.tools import Connection

QUERIES = load_queries(__name__, "audit.sql")

SHOWN: Final = 200
"""At most so many acts are read at once, the newest first."""


class Act(StrEnum):
    """What somebody did."""

    READ = "read"
    EDITED = "edited"
    DELETED = "deleted"
    EXPORTED = "exported"
    ERASED = "erased"
    LINKED = "linked"
    """An account became one person with another."""
    UNLINKED = "unlinked"


@dataclass(frozen=True, slots=True)
class Look:
    """One act on what is about one person."""

    act: Act
    via: str
    """The command, as in `/memories list`."""
    actor_account_id: int | None
    """None: an operator, on the command line."""
    server_id: int | None
    about_account_id: int | None = None
    about_user_id: int | None = None
    """The user, where the subject has no account or the account is not known; one of the two is needed."""
    items: int = 1
    """How many things."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A line of the trail, for the person whom it is about."""

    at: datetime
    act: Act
    via: str
    by_operator: bool
    actor: str | None
    """The name of whoever did it; None for an operator, and for somebody who hides or was forgotten."""
    server: str | None
    items: int


class Audit:
    """The trail."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def record(self, looks: Iterable[Look], now: datetime, conn: Connection | None = None) -> None:
        """Write acts down; what people do with what is about themselves is left out.

        `conn`: the transaction of the change that is recorded, so that neither is there without the other.
        """
        rows = [
            (
                now,
                look.act,
                look.via,
                look.actor_account_id,
                look.about_account_id,
                look.about_user_id,
                look.server_id,
                look.items,
            )
            for look in looks
        ]
        if not rows:
            return
        columns = [list(column) for column in zip(*rows, strict=True)]
        if conn is not None:
            await conn.execute(QUERIES["record"], *columns)
            return
        async with self._store.connection() as own:
            await own.execute(QUERIES["record"], *columns)

    async def about(self, account_id: int, limit: int = SHOWN) -> Sequence[Seen]:
        """Return who looked at or changed what is about a person, linked accounts included, newest first."""
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["about"], account_id, limit)
        return [
            Seen(
                row["happened_at"],
                Act(row["act"]),
                row["via"],
                row["by_operator"],
                row["actor"] or None,
                row["server"],
                row["items"],
            )
            for row in rows
        ]
