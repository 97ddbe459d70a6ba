"""A whole agent in the loopback Discord, with the real client between them."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from agent.app import Agent
from agent.clock import Clock
from agent.settings.secrets import Secret
from agent.testing.app import running_agent
from agent.testing.recording_host import RecordingHost
from agent.testing.scripted_model import ScriptedModel
from bridges.discord import DiscordBridge, DiscordSettings
from tests.servers.discord.loopback import LoopbackDiscord


@dataclass
class DiscordWorld:
    """The loopback Discord and the agent in it."""

    discord: LoopbackDiscord
    agent: Agent
    bridge: DiscordBridge
    model: ScriptedModel


def settings_of(discord: LoopbackDiscord, **options: Any) -> DiscordSettings:
    """The settings of a bridge to the loopback Discord."""
    return DiscordSettings(
        token=Secret.parse(discord.token),
        api_base=discord.api_base,
        cdn_base=discord.cdn_base,
        ready_seconds=0.05,
        **options,
    )


@contextlib.asynccontextmanager
async def heard(
    discord: LoopbackDiscord, host: RecordingHost | None = None, *, clock: Clock | None = None, **options: Any
) -> AsyncIterator[RecordingHost]:
    """Run the bridge alone in the loopback Discord, and write down what it brings; guilds must be there before."""
    host = host or RecordingHost()
    bridge = DiscordBridge(settings_of(discord, **options), clock=clock)
    await bridge.start(host)
    try:
        yield host
    finally:
        await bridge.stop()


@contextlib.asynccontextmanager
async def discord_agent(
    discord: LoopbackDiscord,
    database_url: str,
    settings: Mapping[str, Any] | None = None,
    *,
    model: ScriptedModel | None = None,
    clock: Clock | None = None,
    **options: Any,
) -> AsyncIterator[DiscordWorld]:
    """Run an agent in the loopback Discord; guilds must be there before."""
    bridge = DiscordBridge(settings_of(discord, **options), clock=clock)
    model = model or ScriptedModel(default="Well.")
    async with running_agent(database_url, settings, bridge=bridge, model=model, clock=clock) as agent:
        yield DiscordWorld(discord, agent, bridge, model)
