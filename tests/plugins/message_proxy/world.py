"""A whole agent in the loopback Discord, with a loopback PluralKit and its bot."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from agent.app import Agent
from agent.settings.file import merge
from agent.testing.scripted_model import ScriptedModel
from plugins.message_proxy import MessageProxyPlugin
from tests.bridges.discord.worlds import discord_agent
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.records import Message, User
from tests.servers.pluralkit import PluralKitServer, ProxyBot

INSTANCE = "loopback"


@dataclass
class ProxyWorld:
    """Everything that a test needs."""

    discord: LoopbackDiscord
    pluralkit: PluralKitServer
    bot: ProxyBot
    agent: Agent
    model: ScriptedModel

    @property
    def plugin(self) -> MessageProxyPlugin:
        found = self.agent.plugins.get("message_proxy")
        assert isinstance(found, MessageProxyPlugin)
        return found

    async def rows(self, query: str, *values: Any) -> list[dict[str, Any]]:
        async with self.agent.core.store.connection() as conn:
            return [dict(row) for row in await conn.fetch(query, *values)]

    async def account_id(self, user: User) -> int:
        async with asyncio.timeout(5):
            while True:
                if found := await self.agent.core.people.find("discord", str(user.id)):
                    return found[0].account_id
                await asyncio.sleep(0.01)

    async def ended(self, *messages: Message) -> list[str]:
        """What became of messages, when something has: the states of their rows."""
        ids = [str(each.id) for each in messages]
        query = "SELECT event_id, state FROM inbound_events WHERE event_id = ANY ($1::text[])"
        async with asyncio.timeout(15):
            while True:
                states = {row["event_id"]: row["state"] for row in await self.rows(query, ids)}
                if len(states) == len(ids) and not {"received", "running"} & set(states.values()):
                    return [states[each] for each in ids]
                await asyncio.sleep(0.01)

    async def use(self, user: User) -> None:
        """Let somebody use the loopback PluralKit."""
        account_id = await self.account_id(user)
        instance = next(each for each in self.plugin.instances if each.name == INSTANCE)
        await self.plugin.repository.choose(account_id, instance.instance_id, self.agent.core.clock.now())
        await self.plugin.watching.load()

    def prompts(self) -> list[str]:
        """The prompts that the model was given, one text each."""
        return ["\n".join(request.texts) for request in self.model.requests]


def settings_for(origin: str, **options: Any) -> dict[str, Any]:
    """The tables of plugins.toml for an agent that believes the loopback PluralKit."""
    instance = {"service": "pluralkit", "origin": origin, "allow_private_networks": True}
    return {
        "plugins": {
            "privacy": {"enabled": True},
            "memory": {"enabled": True},
            "message_proxy": {
                "enabled": True,
                "wait": 0.4,
                "lookup_seconds": 2.0,
                **options,
                "instances": {INSTANCE: instance},
            },
        }
    }


@contextlib.asynccontextmanager
async def proxy_world(
    discord: LoopbackDiscord,
    pluralkit: PluralKitServer,
    database_url: str,
    more: Mapping[str, Any] | None = None,
    *,
    model: ScriptedModel | None = None,
    **options: Any,
) -> AsyncIterator[ProxyWorld]:
    """Run it all; guilds must be there before."""
    settings = settings_for(pluralkit.origin, **options)
    merge(settings, dict(more or {}))
    async with discord_agent(discord, database_url, settings, model=model) as world:
        yield ProxyWorld(discord, pluralkit, ProxyBot(discord, pluralkit), world.agent, world.model)
