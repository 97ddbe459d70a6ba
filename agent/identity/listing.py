"""The people of a server, page by page, for operators: hidden people and those who left are there too."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final

from agent.contracts.people import Account
from agent.identity.directory import Name
from agent.identity.names import NameSource
from agent.identity.records import account_from
from agent.store.queries import load_queries

if TYPE_CHECKING:
    from agent.store.pool import Store

QUERIES = load_queries(__name__, "listing.sql")
PAGE: Final = 200
"""People on one page."""


@dataclass(frozen=True, slots=True)
class Listed:
    """Somebody with every name that is kept for one server."""

    account: Account
    names: tuple[Name, ...]
    """Strongest source first."""
    is_member: bool
    """False for somebody who left: found by no name until the return."""
    blacklisted: bool


@dataclass(frozen=True, slots=True)
class Page:
    """Some people of a server, by account id."""

    people: tuple[Listed, ...]
    number: int
    """From 1."""
    total: int
    """How many people there are on all pages."""

    @property
    def pages(self) -> int:
        """How many pages there are, at least one."""
        return max(1, -(-self.total // PAGE))


async def page_of_people(store: Store, server_id: int, number: int) -> Page:
    """Return a page, counted from 1; behind the last one it is empty."""
    async with store.transaction() as conn:
        total: int = await conn.fetchval(QUERIES["count"], server_id)
        rows = await conn.fetch(QUERIES["page"], server_id, PAGE, (number - 1) * PAGE)
    people = []
    for _, group in groupby(rows, key=lambda row: row["account_id"]):
        lines = list(group)
        names = sorted(
            (Name(NameSource(row["source"]), row["value"], row["normalised"]) for row in lines),
            key=lambda name: (name.source.strength, name.normalised),
        )
        first = lines[0]
        people.append(Listed(account_from(first), tuple(names), first["is_member"], first["blacklisted"]))
    return Page(tuple(people), number, total)
