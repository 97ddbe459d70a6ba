"""A room of a real Synapse and a channel of the loopback Discord, joined by a whole agent."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agent.app import Agent
from agent.testing.app import running_agent
from agent.testing.scripted_model import ScriptedModel
from bridges.discord import DiscordBridge
from bridges.relay import RelayBridge, RelaySettings
from bridges.relay.registration import Tokens
from tests.bridges.discord.worlds import settings_of
from tests.servers.discord.guilds import Guild
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.records import Channel, Message, User
from tests.servers.synapse import Person, Synapse
from tests.servers.synapse.configuration import SERVER_NAME

PATIENCE = 20.0
type Json = dict[str, Any]


@dataclass
class Service:
    """A homeserver that knows the relay."""

    synapse: Synapse
    tokens: Tokens
    port: int


@dataclass
class RelayWorld:
    """The two sides, and the agent between them."""

    service: Service
    discord: LoopbackDiscord
    guild: Guild
    general: Channel
    mara: User
    cyn: Person
    room: str
    agent: Agent
    relay: RelayBridge
    model: ScriptedModel

    @property
    def bot(self) -> str:
        """The agent's user in rooms."""
        return self.relay.names.agent

    def ghost(self, user: User) -> str:
        """The user who stands for somebody of Discord."""
        return self.relay.names.person(str(user.id))

    async def in_channel(self, text: str, *, channel: Channel | None = None) -> Message:
        """Return the first message of a channel that says something, as soon as there is one."""
        where = channel or self.general

        def look() -> Message | None:
            return next((each for each in self.discord.messages(where) if text in f"{each.content}{each.embeds}"), None)

        found = await self.discord.until(look, PATIENCE, f"“{text}” in the channel")
        assert found is not None
        return found

    async def in_room(self, text: str, *, who: Person | None = None) -> Json:
        """Return the first message of the room that says something, as soon as there is one."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for event in await (who or self.cyn).messages(self.room, 100):
                    if event["type"] == "m.room.message" and text in str(event["content"].get("body", "")):
                        return event
                await asyncio.sleep(0.05)

    async def bodies(self, limit: int = 100) -> list[str]:
        """Return what stands in the room, oldest first."""
        return [
            str(event["content"]["body"])
            for event in await self.cyn.messages(self.room, limit)
            if event["type"] == "m.room.message" and "body" in event["content"]
        ]

    def contents(self) -> list[str]:
        """Return what stands in the channel, oldest first."""
        return [message.content for message in self.discord.messages(self.general)]

    async def settled(self) -> None:
        """Return when neither side has anything left to carry."""
        for _ in range(3):
            await asyncio.sleep(0.3)
            await self.relay.idle()
            await self.agent.idle()

    async def link(self, room: str | None = None, channel: Channel | None = None) -> None:
        """Link a room and a channel as an operator does, and wait until they are."""
        parts = self.relay._started
        where = channel or self.general
        room = room or self.room
        assert await parts.ties.rows.ask(room, "discord", str(self.guild.id), str(where.id), is_agreed=True)
        parts.linking.wake()
        async with asyncio.timeout(PATIENCE):
            while room not in parts.ties.links.by_room:  # noqa: ASYNC110  # the relay tells nobody
                await asyncio.sleep(0.02)  # it is done in a task of the relay's own


async def eventually[T](look: Callable[[], Awaitable[T]], fits: Callable[[T], bool]) -> T:
    """Return what is found as soon as it fits."""
    async with asyncio.timeout(PATIENCE):
        while not fits(found := await look()):  # noqa: ASYNC110  # what is looked at tells nobody
            await asyncio.sleep(0.05)
    return found


@contextlib.asynccontextmanager
async def relay_world(
    service: Service,
    discord: LoopbackDiscord,
    database_url: str,
    settings: Mapping[str, Any] | None = None,
    *,
    model: ScriptedModel | None = None,
    linked: bool = True,
    **options: Any,
) -> AsyncIterator[RelayWorld]:
    """Run an agent between a room with cyn and a channel with mara, linked unless a test does that itself."""
    guild = discord.guild("Garden")
    mara, general = guild.member("mara"), guild.channel("general")
    cyn = await service.synapse.person("cyn")
    room = await cyn.create_room("Kitchen")
    relay = RelayBridge(
        RelaySettings(homeserver=service.synapse.url, server_name=SERVER_NAME, port=service.port, **options),
        tokens=service.tokens,
    )
    model = model or ScriptedModel(default="Well.")
    bridges = (relay, DiscordBridge(settings_of(discord)))
    async with running_agent(database_url, settings, bridge=bridges, model=model) as agent:
        world = RelayWorld(service, discord, guild, general, mara, cyn, room, agent, relay, model)
        await discord.connected()
        await cyn.invite(room, world.bot)
        if linked:
            await world.link()
            await world.in_channel("Kitchen")
        yield world
