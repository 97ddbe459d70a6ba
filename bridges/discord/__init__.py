"""The agent in Discord."""

from __future__ import annotations

from bridges.discord.bridge import DiscordBridge
from bridges.discord.settings import DiscordSettings

__all__ = ["DiscordBridge", "DiscordSettings"]
