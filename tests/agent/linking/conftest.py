import contextlib
import json
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest_asyncio

from agent.app import Agent
from agent.commands import CommandReply
from agent.contracts.people import Account
from agent.events import Author
from agent.identity.keys import ParticipantKind
from agent.testing.app import settings_for_test
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from agent.testing.scripted_model import ScriptedModel
from agent.tools import ToolResult
from tests.clocks import ManualClock

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SETTINGS = {"plugins": {"memory": {"enabled": True}, "privacy": {"enabled": True}}}
KINDS = {
    "discord": ParticipantKind.DISCORD_USER,
    "matrix": ParticipantKind.MATRIX_USER,
    "console": ParticipantKind.CONSOLE_USER,
}


@dataclass
class World:
    """One agent on three platforms; people are named `platform:id`."""

    agent: Agent
    platforms: dict[str, FakePlatform]
    clock: ManualClock
    model: ScriptedModel

    def author(self, who: str) -> tuple[FakePlatform, Author]:
        platform, _, name = who.partition(":")
        here = self.platforms[platform]
        return here, here.person(name, display_name=name.title(), kind=KINDS[platform])

    async def run(self, who: str, *path: str, channel: str = "@", **options: Any) -> CommandReply:
        platform, author = self.author(who)
        channel = f"@{author.external_id}" if channel == "@" else channel
        return await platform.run_command(author.external_id, *path, channel=channel, **options)

    async def link(self, who: str, code: str | None = None) -> CommandReply:
        return await self.run(who, "link", **({} if code is None else {"code": code}))

    async def linked(self, first: str, second: str) -> CommandReply:
        """Go through all of it."""
        asked = await self.link(first)
        assert asked.data is not None
        assert (await self.link(second, asked.data["code"])).ok
        assert (await self.link(first)).ok
        return await self.link(first, "confirm")

    async def remember(self, who: str, content: str) -> ToolResult:
        platform, author = self.author(who)
        arguments = {"memory_content": content, "memory_scope": "target_user", "target_user": "me"}
        place = platform.place()
        result, _ = await self.agent.call_tool("create_long_term_memory", json.dumps(arguments), *place, author)
        return result

    async def prompt(self, who: str) -> str:
        platform, author = self.author(who)
        built = await self.agent.build_prompt(*platform.place(), author, "hello")
        return "\n".join(item.render() for item in built.items)

    async def account(self, who: str) -> Account:
        platform, author = self.author(who)
        return (await self.agent.core.people.enter(*platform.place(), author, self.clock.now())).account

    async def rows(self, query: str, *values: Any) -> list[dict[str, Any]]:
        async with self.agent.core.store.connection() as conn:
            return [dict(row) for row in await conn.fetch(query, *values)]

    async def owned(self, user_id: int | None) -> list[str]:
        """What a user owns, oldest first."""
        rows = await self.rows(
            "SELECT content FROM personal_memories WHERE user_id = $1 ORDER BY personal_memory_id", user_id
        )
        return [row["content"] for row in rows]


@contextlib.asynccontextmanager
async def opened(database_url: str, settings: dict[str, Any] = SETTINGS) -> AsyncIterator[World]:
    clock, model = ManualClock(NOW), ScriptedModel(default="Well.")
    platforms = {name: FakePlatform(name, clock=clock) for name in KINDS}
    with tempfile.TemporaryDirectory(prefix="isthmus-") as directory:
        agent = await Agent.start(
            settings_for_test(database_url, settings, data_dir=Path(directory)),
            bridges=[FakeBridge(platform=platform) for platform in platforms.values()],
            model=model.chat,
            clock=clock,
        )
        try:
            yield World(agent, platforms, clock, model)
        finally:
            await agent.stop(5.0)


@pytest_asyncio.fixture
async def world(database_url: str) -> AsyncIterator[World]:
    async with opened(database_url) as made:
        yield made
