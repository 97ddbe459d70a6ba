"""A plugin host of a few lines, and a writer that keeps what the guards allow."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from typing import Any

from agent.contracts.memory import MemoryScope, MemorySource, MemoryWrite, Origin, WriteKind
from agent.contracts.people import Account, Denial, Refusal
from agent.places import Audience
from agent.privacy.guards import MemoryGuards
from agent.store.pool import Store
from tests.agent.identity.builders import NOW


class StubHooks:
    """Answers as told, and remembers what it was asked."""

    def __init__(self, denies: Iterable[str] = (), covers: Iterable[str] = ()) -> None:
        self.denies = set(denies)
        self.topics = set(covers)
        self.asked: list[str] = []
        self.erase: Callable[[Any, Account], Awaitable[dict[str, int]]] | None = None

    async def guard(self, name: str, /, **values: Any) -> Denial | None:
        self.asked.append(name)
        return Denial(Refusal.OTHER, "no") if name in self.denies else None

    def covers(self, topic: str, hook: str | None = None) -> bool:
        return topic in self.topics

    async def collect(self, name: str, /, **values: Any) -> list[Any]:
        self.asked.append(name)
        return [] if self.erase is None else [await self.erase(values["conn"], values["account"])]

    @property
    def started(self) -> frozenset[str]:
        return frozenset({"stub"})

    def implementing(self, hook: str) -> tuple[str, ...]:
        return ("stub",)

    async def collect_by_plugin(self, name: str, /, **values: Any) -> list[tuple[str, Any]]:
        if name == "erase_person":
            return [("stub", part) for part in await self.collect(name, **values)]
        self.asked.append(name)
        return [("stub", {"account": values["account"].account_id})]


def write(
    *,
    server: int = 1,
    user: int | None = None,
    subject: int | None = None,
    subject_user: int | None = None,
    author: int | None = None,
    at: datetime = NOW,
    kind: WriteKind = WriteKind.CREATE,
    content: str = "likes tea",
    proxied: bool = False,
    hosts: tuple[int, ...] = (),
) -> MemoryWrite:
    """A write: personal when a user owns it, else of the server."""
    return MemoryWrite(
        kind=kind,
        scope=MemoryScope.SERVER if user is None else MemoryScope.PERSONAL,
        server_id=server,
        user_id=user,
        lineage_id=1,
        content=content,
        audience=Audience.SERVER,
        origin=Origin.MODEL,
        source=MemorySource("console", server, "c", "m", "t", "tool", author, at),
        subject_account_id=subject,
        subject_user_id=subject_user,
        about_proxy_identity=proxied,
        host_account_ids=hosts,
    )


async def prepare_writer(store: Store) -> None:
    """Create the table that `save` writes to."""
    async with store.connection() as conn:
        await conn.execute("CREATE TABLE saved (content text, account_id bigint, server_id bigint)")


async def save(store: Store, guards: MemoryGuards, asked: MemoryWrite) -> Denial | None:
    """Write as every writer must: under the locks, if nobody refuses, with some time in between."""
    async with store.transaction() as conn:
        denial = await guards.recheck(conn, asked)
        await asyncio.sleep(0.002)
        if denial is None:
            await conn.execute(
                "INSERT INTO saved VALUES ($1, $2, $3)", asked.content, asked.subject_account_id, asked.server_id
            )
    return denial
