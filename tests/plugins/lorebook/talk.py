"""A place with people, who run the commands of a running agent."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from agent.app import Agent
from agent.commands import CommandReply
from agent.contracts.context import ContextItem, Tag
from agent.events import Author
from agent.identity.keys import ParticipantKind
from agent.places import ChannelRef, ServerRef
from plugins.lorebook import LorebookPlugin
from plugins.lorebook.library import Library

HOME = ServerRef("console", "console:home", "home")
AWAY = ServerRef("console", "console:away", "away")
GENERAL = ChannelRef("console:general", "general")
CAVE = ChannelRef("console:cave", "cave")
THREAD = ChannelRef("console:cave/thread", "thread", parent_external_id="console:cave", parent_name="cave")
ANA = Author(ParticipantKind.CONSOLE_USER, "console:ana", "Ana", can_manage=True)
BEN = Author(ParticipantKind.CONSOLE_USER, "console:ben", "Ben")


@dataclass(frozen=True)
class GivenBytes:
    """A file that somebody attached."""

    content: bytes
    name: str = "lore.json"
    asked: list[int] = field(default_factory=list)

    async def read(self, limit: int) -> bytes:
        self.asked.append(limit)
        return self.content


class Talk:
    def __init__(self, agent: Agent) -> None:
        self.agent = agent

    @property
    def library(self) -> Library:
        plugin = self.agent.plugins.get("lorebook")
        assert isinstance(plugin, LorebookPlugin)
        return plugin.library

    async def server_id(self, server: ServerRef = HOME) -> int:
        entrance = await self.agent.core.people.enter(server, GENERAL, ANA, self.agent.core.clock.now())
        return entrance.place.server.server_id

    async def run(
        self,
        command: str,
        who: Author = ANA,
        on: ServerRef = HOME,
        at: ChannelRef = GENERAL,
        **options: Any,
    ) -> CommandReply:
        return await self.agent.run_command(("lorebook", command), options, on, at, who)

    async def say(self, command: str, **options: Any) -> str:
        reply = await self.run(command, **options)
        assert reply.ok, reply.text
        return reply.text

    async def lore(
        self, text: str, who: Author = ANA, on: ServerRef = HOME, at: ChannelRef = GENERAL
    ) -> list[ContextItem]:
        prompt = await self.agent.build_prompt(on, at, who, text)
        return [item for item in prompt.items if item.tag is Tag.LOREBOOK]

    async def lines(self, text: str, **where: Any) -> list[str]:
        return [entry.line for item in await self.lore(text, **where) for entry in item.entries]


def without_rights(author: Author) -> Author:
    return replace(author, can_manage=False)
