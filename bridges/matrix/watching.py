"""Who is in a server, and how its channels are called and read, told to the core as it changes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

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
from agent.places import ChannelRef, ServerRef
from agent.store.errors import StoreError
from bridges.matrix.rules.room import Room, disambiguated

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.bridge import BridgeHost
    from bridges.matrix.world import World

log = logs.get_logger(__name__)

_PAUSE: Final = 1.0


@dataclass(slots=True)
class Told:
    """What the core was told of a server."""

    server: ServerRef
    members: dict[str, Member] = field(default_factory=dict)
    channels: dict[str, ChannelRef] = field(default_factory=dict)


def members_of(rooms: Sequence[Room], agent_id: str) -> dict[str, Member]:
    """Return who is in any of the rooms of a server; names that several bear get their id behind them."""
    names: dict[str, str] = {}
    for room in rooms:
        for user in room.members("join"):
            # A space comes first where it is among them; a name of one's own counts more than none.
            if user != agent_id and names.get(user, user) == user:
                names[user] = room.display_name(user)
    return {
        user: Member(
            ParticipantKind.MATRIX_USER,
            user,
            shown,
            global_name=names[user] if names[user] not in {user, shown} else None,
            username=user[1:].partition(":")[0] or None,
        )
        for user, shown in disambiguated(names).items()
    }


def changes(before: Told | None, now: Told) -> Iterator[DirectoryChange]:
    """Give what has changed of a server since the core was told of it."""
    if before is None or before.server != now.server:
        yield ServerJoined(now.server)
    for identifier, channel in now.channels.items():
        if before is None or before.channels.get(identifier) != channel:
            yield ChannelChanged(now.server, channel)
    if before is None:
        yield MembersSeen(now.server, tuple(now.members.values()), is_complete=True)
        return
    seen = tuple(member for user, member in now.members.items() if before.members.get(user) != member)
    if seen:
        yield MembersSeen(now.server, seen)
    for user in before.members:
        if user not in now.members:
            yield MemberLeft(now.server, ParticipantKey(ParticipantKind.MATRIX_USER, user))
    for identifier in before.channels:
        if identifier not in now.channels:
            yield ChannelRemoved(now.server, identifier)


class Watching:
    """Compares what is with what was told, and tells the difference."""

    def __init__(self, host: BridgeHost, world: World) -> None:
        self._host = host
        self._world = world
        self._told: dict[str, Told] = {}

    async def tell(self) -> None:
        """Tell what has changed since the last time, of the servers whose rooms have changed."""
        servers, touched = self._world.servers(), set(self._world.touched)
        self._world.touched.clear()
        origins = {self._world.origin(room_id) for room_id in touched}
        for identifier, (server, rooms) in servers.items():
            told = self._told.get(identifier)
            if (
                told is not None
                and not touched & {room.room_id for room in rooms}
                and not origins & told.channels.keys()
            ):
                continue
            await asyncio.sleep(0)  # a large room takes its time
            ordered = sorted(rooms, key=lambda room: not room.is_space)
            channels = [self._world.place(room.room_id)[1] for room in ordered if not room.is_space]
            members = members_of(ordered, self._world.agent_id)
            now = Told(server, members, {channel.external_id: channel for channel in channels})
            for change in changes(told, now):
                await self._observe(change)
            self._told[identifier] = now
        for identifier in self._told.keys() - servers.keys():
            await self._observe(ServerLeft(self._told.pop(identifier).server))

    async def _observe(self, change: DirectoryChange) -> None:
        while True:
            try:
                await self._host.observe(change)
            except StoreError as error:
                log.warning("change_waits_for_database", reason=str(error))
                await asyncio.sleep(_PAUSE)
            else:
                return
