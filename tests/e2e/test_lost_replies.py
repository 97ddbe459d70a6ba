"""The database goes away at one statement: before it is carried out, or after, so that nobody knows whether it was."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agent.identity.people import People
from agent.models import usage_counters
from agent.store.errors import DatabaseUnavailable
from agent.store.inbound import Inbound
from agent.store.outbox import OutboxRows
from agent.store.pool import Store
from agent.testing.app import running_agent
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform

STEPS: list[tuple[Any, str]] = [
    (Inbound, "receive"),
    (Inbound, "begin"),
    (People, "participants"),
    (Inbound, "write_checkpoint"),
    (Inbound, "finish"),
    (OutboxRows, "claim"),
    (OutboxRows, "settle"),
    (usage_counters, "add"),
]
SETTINGS: dict[str, Any] = {"plugins": {"memory": {}}}
ENDED = "SELECT state FROM inbound_events"
UNSENT = "SELECT count(*) FROM outbox WHERE state <> 'sent'"
MEMORIES = "SELECT server_memory_id FROM server_memories"


def lose(monkeypatch: pytest.MonkeyPatch, owner: Any, method: str, *, after: bool, times: int) -> list[str]:
    """Let the database go away at the next calls of a method; return what was lost so far."""
    original: Callable[..., Awaitable[Any]] = getattr(owner, method)
    lost: list[str] = []

    async def losing(*args: Any, **kwargs: Any) -> Any:
        if len(lost) >= times:
            return await original(*args, **kwargs)
        lost.append(method)
        if after:
            await original(*args, **kwargs)
        raise DatabaseUnavailable("the connection was lost")

    monkeypatch.setattr(owner, method, losing)
    return lost


async def talk(database_url: str, lost: list[str]) -> None:
    """Ask for something to be remembered, and assert that it is, once, and that everything ended."""
    platform = FakePlatform()
    async with running_agent(database_url, SETTINGS, bridge=FakeBridge(platform=platform)) as agent:
        said = await platform.say("ana", "remember that game night is every Friday")
        answer = await platform.answer(said)
        await agent.idle()
        async with agent.core.store.connection() as conn:
            states = [row["state"] for row in await conn.fetch(ENDED)]
            unsent = await conn.fetchval(UNSENT)
            memories = [row["server_memory_id"] for row in await conn.fetch(MEMORIES)]
    assert lost
    assert len(platform.answers_to(said)) == 1
    assert states == ["answered"]
    assert unsent == 0
    notices = [message.card.memory_id for message in platform.from_agent if message.card is not None]
    assert notices == memories
    if lost == ["write_checkpoint"]:  # the tool was rolled back, and says so
        assert (memories, answer.text) == ([], "I did not remember that: the memory cannot be reached now.")
    else:
        assert (len(memories), answer.text) == (1, f"I will remember that (ID {memories[0]}).")


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(("owner", "method"), STEPS, ids=[method for _, method in STEPS])
async def test_a_reply_that_is_lost(
    database_url: str, monkeypatch: pytest.MonkeyPatch, owner: Any, method: str, after: bool
) -> None:
    lost = lose(monkeypatch, owner, method, after=after, times=1)
    await talk(database_url, lost)


async def test_a_commit_of_a_tool_whose_reply_is_lost(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lost: list[str] = []
    written: set[asyncio.Task[Any] | None] = set()
    checkpoint, transaction = Inbound.write_checkpoint, Store.transaction

    async def noted(self: Inbound, *args: Any) -> None:
        await checkpoint(self, *args)
        written.add(asyncio.current_task())

    @asynccontextmanager
    async def losing(self: Store) -> AsyncIterator[Any]:
        async with transaction(self) as conn:
            yield conn
        if asyncio.current_task() in written and not lost:
            lost.append("commit")
            raise DatabaseUnavailable("the connection was lost")

    monkeypatch.setattr(Inbound, "write_checkpoint", noted)
    monkeypatch.setattr(Store, "transaction", losing)
    await talk(database_url, lost)


@pytest.mark.parametrize("method", ["load_checkpoint", "finish"])
async def test_a_database_that_is_lost_again_and_again(
    database_url: str, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    lose(monkeypatch, Inbound, method, after=False, times=5)
    platform = FakePlatform()
    async with running_agent(database_url, SETTINGS, bridge=FakeBridge(platform=platform)) as agent:
        answer = await platform.ask("ana", "hello")
        await agent.idle()
        async with agent.core.store.connection() as conn:
            states = [row["state"] for row in await conn.fetch(ENDED)]
    assert answer.text
    assert states == ["answered"]
    assert len(platform.from_agent) == 1
