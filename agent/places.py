"""Where something is said: servers, channels, and who may read what is said there."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ServerKind(StrEnum):
    """What owns server memories."""

    GUILD = "guild"
    """A Discord guild, a Matrix space, or a server of the console."""
    ROOM = "room"
    """A Matrix room that belongs to no space."""
    DIRECT = "direct"
    """A direct-message conversation."""


class Visibility(StrEnum):
    """Who can read a channel."""

    EVERYONE = "everyone"
    """Every member of the server."""
    RESTRICTED = "restricted"
    """Some members only."""
    DIRECT = "direct"
    """The two of a direct conversation."""
    UNKNOWN = "unknown"
    """Not known; treated as restricted."""


class Audience(StrEnum):
    """Who may ever read a memory: a limit that is checked always (a channel scope is a preference)."""

    OPEN = "open"
    SERVER = "server"
    CHANNEL = "channel"
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class ServerRef:
    """A server as a bridge names it."""

    platform: str
    external_id: str
    name: str
    kind: ServerKind = ServerKind.GUILD


@dataclass(frozen=True, slots=True)
class ChannelRef:
    """A channel or thread as a bridge names it; `external_id` is unique on its platform."""

    external_id: str
    name: str
    visibility: Visibility = Visibility.EVERYONE
    parent_external_id: str | None = None
    """The channel that a thread hangs below; None for what is no thread."""
    parent_name: str | None = None


@dataclass(frozen=True, slots=True)
class Server:
    """A server with its row."""

    server_id: int
    ref: ServerRef

    @property
    def is_direct(self) -> bool:
        """Tell whether this is a direct-message conversation."""
        return self.ref.kind is ServerKind.DIRECT


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel with its row."""

    channel_id: int
    ref: ChannelRef


@dataclass(frozen=True, slots=True)
class Place:
    """Where a turn happens."""

    server: Server
    channel: Channel

    @property
    def platform(self) -> str:
        """Return the platform's name, as in `console`."""
        return self.server.ref.platform

    def admits_scope(self, channel_ids: tuple[str, ...]) -> bool:
        """Tell whether a channel scope admits this place: empty everywhere, else the channel or its parent (seed 2)."""
        ref = self.channel.ref
        return not channel_ids or ref.external_id in channel_ids or ref.parent_external_id in channel_ids


def audience_of_server_memory(place: Place) -> Audience:
    """Return who may read a server memory that is saved here (memory.md, Audience)."""
    is_public = not place.server.is_direct and place.channel.ref.visibility is Visibility.EVERYONE
    return Audience.SERVER if is_public else Audience.CHANNEL


def audience_of_personal_memory(place: Place) -> Audience:
    """Return who may read a personal memory that is saved here (memory.md, Audience)."""
    if place.server.is_direct:
        return Audience.PERSON
    return Audience.OPEN if place.channel.ref.visibility is Visibility.EVERYONE else Audience.CHANNEL


def conversation_key(platform: str, channel: ChannelRef) -> str:
    """Return the key under which events, turns and messages of one channel wait for one another."""
    return f"{platform}/{channel.external_id}"
