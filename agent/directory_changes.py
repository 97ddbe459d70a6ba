"""What bridges tell of members, channels and servers as it happens: frozen values for `BridgeHost.observe`.

Each says what is so now, so telling it twice, or late, does no harm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.places import ChannelRef, ServerRef


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody in a server, as the platform shows them there; every name is untrusted text."""

    kind: ParticipantKind
    external_id: str
    display_name: str
    """The name shown in that server: the nickname there, else the global name, else the username."""
    global_name: str | None = None
    """The name shown where a server has none of its own; None when there is none."""
    username: str | None = None
    """None when the platform has none, or did not tell it."""
    is_bot: bool = False
    """Other bots are nobody that could be meant by a name: they are not kept."""

    @property
    def key(self) -> ParticipantKey:
        """Return the key of this account."""
        return ParticipantKey(self.kind, self.external_id)


@dataclass(frozen=True, slots=True)
class MembersSeen:
    """People are in a server under these names: at the start, and whenever somebody joins or is renamed."""

    server: ServerRef
    members: tuple[Member, ...]
    is_complete: bool = False
    """Whether these are all members: everybody else of their kinds has left."""
    type: Literal["members_seen"] = "members_seen"


@dataclass(frozen=True, slots=True)
class MemberLeft:
    """Somebody is no longer in a server: they are not found there by name until they return."""

    server: ServerRef
    key: ParticipantKey
    type: Literal["member_left"] = "member_left"


@dataclass(frozen=True, slots=True)
class ChannelChanged:
    """A channel has another name, visibility or parent."""

    server: ServerRef
    channel: ChannelRef
    type: Literal["channel_changed"] = "channel_changed"


@dataclass(frozen=True, slots=True)
class ChannelRemoved:
    """A channel, and every thread below it, is gone."""

    server: ServerRef
    external_id: str
    type: Literal["channel_removed"] = "channel_removed"


@dataclass(frozen=True, slots=True)
class ServerJoined:
    """The agent is in a server."""

    server: ServerRef
    type: Literal["server_joined"] = "server_joined"


@dataclass(frozen=True, slots=True)
class ServerLeft:
    """The agent is no longer in a server: what is kept of it goes after 30 days, unless the agent returns."""

    server: ServerRef
    type: Literal["server_left"] = "server_left"


DirectoryChange = MembersSeen | MemberLeft | ChannelChanged | ChannelRemoved | ServerJoined | ServerLeft
