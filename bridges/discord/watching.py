"""Who is in a guild, and how its channels are called and read, told to the core as it changes."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Final

import nextcord

from agent import logs
from agent.directory_changes import (
    ChannelChanged,
    ChannelRemoved,
    DirectoryChange,
    Member,
    MemberLeft,
    MembersSeen,
    ServerJoined,
    ServerLeft,
)
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.places import ServerKind, ServerRef
from bridges.discord.places import PLATFORM, channel_of, server_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from agent.bridge import BridgeHost, State
    from bridges.discord.lanes import Lanes

log = logs.get_logger(__name__)

_GUILD: Final = "guild:"
"""Under it stands the name of each guild that the agent is in."""
_CHANNELS: Final = "channels:"
"""Under it stand the ids of each guild's channels."""
AT_ONCE: Final = 1_000
"""Members that are read before others get the event loop again."""


def member_of(member: nextcord.Member | nextcord.User) -> Member:
    """Return a member as the directory keeps one."""
    return Member(
        kind=ParticipantKind.BOT if member.bot else ParticipantKind.DISCORD_USER,
        external_id=str(member.id),
        display_name=member.display_name,
        global_name=member.global_name,
        username=member.name,
        is_bot=member.bot,
    )


class Watching:
    """Tells the core what nextcord's cache learns; in order within a guild."""

    def __init__(self, host: BridgeHost, lanes: Lanes, state: State) -> None:
        self._host = host
        self._lanes = lanes
        self._state = state

    def tell(self, guild: nextcord.Guild, *changes: DirectoryChange) -> None:
        """Tell changes of a guild; returns at once."""
        for change in changes:
            if not self._lanes.put(guild.id, partial(self._host.observe, change)):
                log.warning("guild_overrun", guild=guild.id)

    def guild_known(self, guild: nextcord.Guild) -> None:
        """Tell of a guild that the agent is in: its channels, and its members as far as they are known."""
        server = server_of(guild)
        self.tell(guild, ServerJoined(server))
        self._lanes.put(guild.id, lambda: self._state.put({f"{_GUILD}{guild.id}": server.name}))
        self.channels(guild, guild.channels)
        self.channels(guild, guild.threads)
        self._lanes.put(guild.id, lambda: self._compare(guild))
        self._lanes.put(guild.id, lambda: self._members(guild))

    async def _compare(self, guild: nextcord.Guild) -> None:
        """Tell of the channels that are gone since the guild was last seen, and note those that there are."""
        key, here = f"{_CHANNELS}{guild.id}", {str(channel.id) for channel in guild.channels}
        noted = await self._state.get(key)
        for channel_id in sorted(set((noted or "").split()) - here):
            await self._host.observe(ChannelRemoved(server_of(guild), channel_id))
        await self._state.put({key: " ".join(sorted(here))})

    async def _members(self, guild: nextcord.Guild) -> None:
        """Tell of everybody at once, so that who left meanwhile is known, when Discord has told of everybody."""
        members: list[Member] = []
        for number, member in enumerate(list(guild.members)):
            if not number % AT_ONCE:
                await asyncio.sleep(0)
            if not member.bot:
                members.append(member_of(member))
        await self._host.observe(MembersSeen(server_of(guild), tuple(members), is_complete=guild.chunked))

    def guild_left(self, guild: nextcord.Guild) -> None:
        """Tell that the agent is no longer in a guild."""
        self.tell(guild, ServerLeft(server_of(guild)))
        self._lanes.put(guild.id, lambda: self._state.remove(f"{_GUILD}{guild.id}", f"{_CHANNELS}{guild.id}"))

    async def session(self, present: Collection[int], is_served: Callable[[int], bool]) -> None:
        """Tell of the guilds that the agent was put out of while it was away.

        `present`: the guilds that it is in; `is_served`: whether a guild belongs to the session that has begun.
        """
        for key, name in (await self._state.below(_GUILD)).items():
            guild_id = int(key.removeprefix(_GUILD))
            if guild_id not in present and is_served(guild_id):
                await self._host.observe(ServerLeft(ServerRef(PLATFORM, str(guild_id), name, ServerKind.GUILD)))
                await self._state.remove(key, f"{_CHANNELS}{guild_id}")

    def channels(self, guild: nextcord.Guild, channels: Iterable[nextcord.abc.GuildChannel | nextcord.Thread]) -> None:
        """Tell how channels are called and who reads them; categories are no places."""
        server = server_of(guild)
        for channel in channels:
            if not isinstance(channel, nextcord.CategoryChannel):
                self.tell(guild, ChannelChanged(server, channel_of(channel)))

    def channel_made(self, guild: nextcord.Guild, channel: nextcord.abc.GuildChannel) -> None:
        """Tell of a channel that came to be."""
        self.channels(guild, [channel])
        self._lanes.put(guild.id, lambda: self._compare(guild))

    def channel_removed(self, guild: nextcord.Guild, channel_id: int) -> None:
        """Tell that a channel or thread is gone."""
        self.tell(guild, ChannelRemoved(server_of(guild), str(channel_id)))

    def server(self, guild: nextcord.Guild) -> None:
        """Tell how a guild is called."""
        self.tell(guild, ServerJoined(server_of(guild)))

    def seen(self, member: nextcord.Member) -> None:
        """Tell of somebody who joined or is called otherwise now."""
        if not member.bot:
            self.tell(member.guild, MembersSeen(server_of(member.guild), (member_of(member),)))

    def left(self, guild: nextcord.Guild, user_id: int) -> None:
        """Tell that somebody is no longer in a guild."""
        key = ParticipantKey(ParticipantKind.DISCORD_USER, str(user_id))
        self.tell(guild, MemberLeft(server_of(guild), key))
