import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest_asyncio

from agent.app import Agent
from agent.commands import CommandReply
from agent.contracts.cards import Card
from agent.events import Author
from agent.identity.keys import ParticipantKind
from agent.places import ChannelRef, ServerKind, ServerRef, Visibility
from agent.testing.app import running_agent
from agent.tools import ToolResult
from tests.clocks import ManualClock

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOME = ServerRef("console", "home", "home")
GENERAL = ChannelRef("home/general", "general")
BACKROOM = ChannelRef("home/backroom", "backroom", Visibility.RESTRICTED)
DIRECT = ServerRef("console", "@ana", "@ana", ServerKind.DIRECT)
DIRECT_CHANNEL = ChannelRef("@ana", "@ana", Visibility.DIRECT)


def person(name: str, *, manages: bool = False) -> Author:
    return Author(ParticipantKind.CONSOLE_USER, name.lower(), name, name.lower(), can_manage=manages)


SETTINGS = {"plugins": {"privacy": {"enabled": True}, "memory": {"enabled": True}}}
ANA, BEN, MAX = person("Ana"), person("Ben"), person("Max", manages=True)


@dataclass
class House:
    """A running agent with every plugin, its clock, and its people."""

    agent: Agent
    clock: ManualClock

    async def run(
        self,
        *path: str,
        who: Author = ANA,
        server: ServerRef = HOME,
        channel: ChannelRef = GENERAL,
        **options: Any,
    ) -> CommandReply:
        return await self.agent.run_command(("privacy", *path), options, server, channel, who)

    async def remember(
        self,
        content: str,
        target: str | None = None,
        who: Author = ANA,
        channel: ChannelRef = GENERAL,
        server: ServerRef = HOME,
    ) -> tuple[ToolResult, tuple[Card, ...]]:
        scope = "server_wide" if target is None else "target_user"
        arguments = {"memory_content": content, "memory_scope": scope, "target_user": target}
        return await self.agent.call_tool("create_long_term_memory", json.dumps(arguments), server, channel, who)

    async def prompt(
        self, who: Author = ANA, text: str = "hello", server: ServerRef = HOME, channel: ChannelRef = GENERAL
    ) -> str:
        built = await self.agent.build_prompt(server, channel, who, text)
        return "\n".join(item.render() for item in built.items)

    async def meet(self, *people: Author) -> None:
        for who in people:
            await self.agent.core.people.enter(HOME, GENERAL, who, self.clock.now())

    async def account_id(self, who: Author) -> int:
        return (await self.agent.core.people.enter(HOME, GENERAL, who, self.clock.now())).account.account_id

    async def rows(self, query: str, *values: Any) -> list[dict[str, Any]]:
        async with self.agent.core.store.connection() as conn:
            return [dict(row) for row in await conn.fetch(query, *values)]

    def wait(self, **time: float) -> None:
        self.clock.advance(timedelta(**time))


@pytest_asyncio.fixture
async def house(database_url: str) -> AsyncIterator[House]:
    clock = ManualClock(NOW)
    async with running_agent(database_url, SETTINGS, clock=clock) as agent:
        yield House(agent, clock)
