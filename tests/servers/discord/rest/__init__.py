"""The REST routes, a module for each kind of thing. Importing this package registers them."""

from tests.servers.discord.rest import (
    channels,
    commands,
    guilds,
    interactions,
    members,
    messages,
    myself,
    pins,
    reactions,
    threads,
    webhook_messages,
    webhooks,
)

__all__ = [
    "channels",
    "commands",
    "guilds",
    "interactions",
    "members",
    "messages",
    "myself",
    "pins",
    "reactions",
    "threads",
    "webhook_messages",
    "webhooks",
]
