"""What the parts of a running relay share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from agent.identity.keys import ParticipantKind
from bridges.relay.repository import DISCORD

if TYPE_CHECKING:
    from agent.bridge import BridgeHost, State
    from agent.relaying.mouthpiece import Mouthpiece
    from agent.relaying.services import Relaying
    from bridges.matrix.rules.room import Room
    from bridges.relay.homeserver import Homeserver
    from bridges.relay.names import Names
    from bridges.relay.repository import Link, Rows
    from bridges.relay.settings import RelaySettings

SOON: Final = 1.0
"""Seconds until something is tried again that could not be done just now."""


class Later(Exception):
    """It cannot be done now: it is tried again after some seconds, and what comes behind it waits.

    `is_doubtful` says that it may have been done all the same, so that it is looked for before.
    """

    def __init__(self, reason: str, seconds: float = SOON, *, is_doubtful: bool = False) -> None:
        super().__init__(reason)
        self.seconds = seconds
        self.is_doubtful = is_doubtful


class KeptEarly(Exception):
    """It came before the message that it is about, and is kept until that comes."""


class Refused(Exception):
    """It can never be done; the text says why, and what comes behind it goes on."""


@dataclass(slots=True)
class Links:
    """The links that are in force, by room and by channel."""

    by_room: dict[str, Link] = field(default_factory=dict)
    by_channel: dict[tuple[str, str], Link] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    """Rooms that are asked whether they agree to a link."""

    def put(self, link: Link) -> None:
        """Take a link into force."""
        self.by_room[link.room_id] = link
        self.by_channel[link.platform, link.channel] = link

    def drop(self, link: Link) -> None:
        """Take a link out of force."""
        self.by_room.pop(link.room_id, None)
        self.by_channel.pop((link.platform, link.channel), None)


@dataclass(frozen=True, slots=True)
class Ties:
    """The other sides of the relay, and what it knows."""

    settings: RelaySettings
    names: Names
    host: BridgeHost
    relaying: Relaying
    state: State
    rows: Rows
    home: Homeserver
    links: Links = field(default_factory=Links)
    rooms: dict[str, Room] = field(default_factory=dict)
    """The linked rooms' state."""

    @property
    def mouth(self) -> Mouthpiece:
        """What lets people of rooms speak in channels.

        Raises:
            Later: that platform's bridge is not there yet.
        """
        found = self.relaying.mouthpiece(DISCORD)
        if found is None:
            raise Later("the other platform's bridge has not started")
        return found

    @property
    def agent_id(self) -> str:
        """The agent's own id on the other platform."""
        bridge = self.relaying.bridge(DISCORD)
        keys = bridge.agent_keys() if bridge is not None else frozenset()
        return next((key.id for key in keys if key.kind is ParticipantKind.BOT), "0")

    @property
    def others(self) -> frozenset[str]:
        """The agent's accounts in Matrix that another bridge serves."""
        bridge = self.relaying.bridge("matrix")
        return frozenset() if bridge is None else frozenset(key.id for key in bridge.agent_keys())
