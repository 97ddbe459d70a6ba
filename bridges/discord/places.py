"""Guilds, channels and threads as the core names them, and who can read them."""

from __future__ import annotations

from typing import Final

import nextcord

from agent.places import ChannelRef, ServerKind, ServerRef, Visibility

PLATFORM: Final = "discord"
_READING: Final = nextcord.Permissions(view_channel=True, read_message_history=True)
type Readable = nextcord.abc.GuildChannel | nextcord.Thread
type Conversation = Readable | nextcord.DMChannel | nextcord.PartialMessageable


def server_of(guild: nextcord.Guild) -> ServerRef:
    """Return a guild as a server."""
    return ServerRef(PLATFORM, str(guild.id), guild.name or str(guild.id), ServerKind.GUILD)


def direct_server(channel_id: int, name: str) -> ServerRef:
    """Return the conversation with one person as a server of its own; `name` is that person's."""
    return ServerRef(PLATFORM, f"direct:{channel_id}", name, ServerKind.DIRECT)


def direct_channel(channel_id: int, name: str) -> ChannelRef:
    """Return the channel of the conversation with one person."""
    return ChannelRef(str(channel_id), name, Visibility.DIRECT)


def visibility_of(channel: Readable) -> Visibility:
    """Return who can read a channel: everybody when the role that everybody has may, and nobody is shut out.

    A private thread is for those who were asked in; any other thread is read by whoever reads its parent. Where the
    parent is not known, neither is who reads the thread.
    """
    if isinstance(channel, nextcord.Thread):
        if channel.is_private():
            return Visibility.RESTRICTED
        return visibility_of(channel.parent) if channel.parent is not None else Visibility.UNKNOWN
    everyone = channel.guild.default_role
    if everyone is None:
        return Visibility.UNKNOWN
    may = channel.permissions_for(everyone)
    # nextcord's `overwrites` leave out members whom it does not know.
    shut_out = any(overwrite.deny & _READING.value for overwrite in channel._overwrites)  # noqa: SLF001
    is_open = may.view_channel and may.read_message_history and not shut_out
    return Visibility.EVERYONE if is_open else Visibility.RESTRICTED


def channel_of(channel: Readable) -> ChannelRef:
    """Return a channel; a thread or a forum's post with the channel that it hangs below."""
    name = channel.name or str(channel.id)
    if not isinstance(channel, nextcord.Thread):
        return ChannelRef(str(channel.id), name, visibility_of(channel))
    parent = channel.parent
    return ChannelRef(
        str(channel.id), name, visibility_of(channel), str(channel.parent_id), parent.name if parent else None
    )
