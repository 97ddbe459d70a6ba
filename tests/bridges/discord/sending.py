"""A bridge in the loopback Discord that is asked to send, without an agent behind it."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

from agent.bridge import OutgoingMessage
from agent.places import ChannelRef, ServerKind, ServerRef, Visibility
from agent.testing.recording_host import RecordingHost
from bridges.discord.bridge import DiscordBridge
from tests.bridges.discord.worlds import settings_of
from tests.servers.discord.guilds import Guild
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.records import Channel

MESSAGES = "/channels/{channel_id}/messages"
WEBHOOKS = "/channels/{channel_id}/webhooks"
EXECUTE = "/webhooks/{webhook_id}/{webhook_token}"


@contextlib.asynccontextmanager
async def bridge_in(discord: LoopbackDiscord, host: RecordingHost | None = None) -> AsyncIterator[DiscordBridge]:
    bridge = DiscordBridge(settings_of(discord))
    await bridge.start(host or RecordingHost())
    try:
        yield bridge
    finally:
        await bridge.stop()


def to(guild: Guild, channel: Channel, text: str, key: str = "key-1", **more: Any) -> OutgoingMessage:
    parent = None if channel.parent_id is None else str(channel.parent_id)
    where = ChannelRef(str(channel.id), channel.name, Visibility.EVERYONE, parent)
    return OutgoingMessage(key, "discord", where, ServerRef("discord", str(guild.id), guild.name), text, **more)


def directly(channel: Channel, text: str, key: str = "key-1", **more: Any) -> OutgoingMessage:
    server = ServerRef("discord", f"direct:{channel.id}", "mara", ServerKind.DIRECT)
    where = ChannelRef(str(channel.id), "mara", Visibility.DIRECT)
    return OutgoingMessage(key, "discord", where, server, text, **more)


def said(discord: LoopbackDiscord, channel: Channel) -> list[tuple[str, str]]:
    """Who said what in a channel, in order."""
    return [(message.author.name, message.content) for message in discord.messages(channel)]


def unasked_mentions(discord: LoopbackDiscord) -> Iterator[str]:
    """Every request that says something and leaves open whom it may ping."""
    for request in discord.core.requests:
        if request.method not in {"POST", "PATCH"} or not isinstance(request.body, dict):
            continue
        for said in (request.body, request.body.get("data"), request.body.get("message")):
            if not isinstance(said, dict) or not {"content", "embeds"} & set(said):
                continue
            allowed = said.get("allowed_mentions")
            if allowed is None or allowed.get("parse") != [] or allowed.get("roles", []) != []:
                yield f"{request.method} {request.template}: {said}"
