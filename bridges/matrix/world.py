"""The rooms that the agent is in, by their state, and which servers and channels they are to the core."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from agent.places import ChannelRef, ServerRef, Visibility
from bridges.matrix.places import (
    direct_channel,
    direct_server,
    label,
    lone_server,
    partner_name,
    space_server,
    thread_channel,
)
from bridges.matrix.rules.room import Room, is_direct, room_name
from bridges.matrix.rules.spaces import follows, settled_space, visibility_of
from bridges.matrix.rules.values import Json, table, texts

if TYPE_CHECKING:
    from agent.bridge import State

type Place = tuple[ServerRef, ChannelRef]

_SPACE: Final = "space:"
_ORIGIN: Final = "origin:"


@dataclass(slots=True)
class World:
    """What the bridge knows; it forgets nothing that it may need until the agent leaves a room."""

    agent_id: str
    rooms: dict[str, Room] = field(default_factory=dict)
    """Those that the agent has joined, spaces included."""
    direct: set[str] = field(default_factory=set)
    """Rooms that the account has marked as direct conversations."""
    spaces: dict[str, str] = field(default_factory=dict)
    """Room to the space that it belongs to, once that is decided."""
    origins: dict[str, str] = field(default_factory=dict)
    """Room to the one whose place it has taken, followed back to the first: under that id the core knows it."""
    news: dict[str, str] = field(default_factory=dict)
    """What must be kept and is not yet."""
    touched: set[str] = field(default_factory=set)
    """Rooms whose state has changed since the core was told of them."""
    known: dict[str, Place] = field(default_factory=dict)
    """Places that were found, until any state changes."""

    async def load(self, state: State) -> None:
        """Read what was decided before this start."""
        self.spaces = {key.removeprefix(_SPACE): value for key, value in (await state.below(_SPACE)).items()}
        self.origins = {key.removeprefix(_ORIGIN): value for key, value in (await state.below(_ORIGIN)).items()}

    async def keep(self, state: State) -> None:
        """Keep what was decided since."""
        if self.news:
            await state.put(dict(self.news))
            self.news.clear()

    def take(self, room_id: str, events: Iterable[Json]) -> Room:
        """Take state events of a room that the agent is in."""
        room = self.rooms.setdefault(room_id, Room(room_id))
        for event in events:
            room.take(event)
            self.touched.add(room_id)
            self.known.clear()
        return room

    def leave(self, room_id: str) -> None:
        """Forget a room that the agent is in no longer."""
        if self.rooms.pop(room_id, None) is not None:
            self.touched.add(room_id)
            self.known.clear()

    def mark_direct(self, content: Json) -> None:
        """Take the account's list of direct conversations."""
        before, self.direct = self.direct, {room for rooms in content.values() for room in texts(rooms)}
        self.touched |= (before ^ self.direct) & self.rooms.keys()
        self.known.clear()

    def settle(self) -> None:
        """Decide anew what follows from state: which room takes another one's place, and which space a room is in."""
        self.known.clear()
        for room_id, room in self.rooms.items():
            old = self.rooms.get(room.predecessor)
            if room_id not in self.origins and old is not None and follows(room, old):
                self.origins[room_id] = self.news[_ORIGIN + room_id] = self.origin(old.room_id)
        for room_id, room in self.rooms.items():
            origin = self.origin(room_id)
            before = self.spaces.get(origin)
            found = settled_space(room, self.rooms, before)
            space = None if found is None else self.origin(found)
            if space is not None and space != before and not room.is_space:
                self.spaces[origin] = self.news[_SPACE + origin] = space

    def origin(self, room_id: str) -> str:
        """Return the id under which the core knows a room: of the first whose place it has taken."""
        return self.origins.get(room_id, room_id)

    def lives(self, origin: str) -> tuple[str, ...]:
        """Return the rooms that the core knows under one id, the present one first."""
        later = [room_id for room_id, first in self.origins.items() if first == origin]
        return (*reversed(later), origin)

    def current(self, origin: str) -> str:
        """Return the room in which the core's channel lives now."""
        return next((room_id for room_id in self.lives(origin) if room_id in self.rooms), origin)

    def is_direct(self, room_id: str) -> bool:
        """Tell whether a room is a direct conversation."""
        return is_direct(self.rooms[room_id], self.agent_id, is_marked=room_id in self.direct)

    def place(self, room_id: str) -> Place:
        """Return a room that the agent is in as a server and a channel.

        Raises:
            KeyError: the agent is not in it.
        """
        if room_id not in self.known:
            self.known[room_id] = self._place(room_id)
        return self.known[room_id]

    def _place(self, room_id: str) -> Place:
        room, origin = self.rooms[room_id], self.origin(room_id)
        if self.is_direct(room_id):
            return direct_server(room, origin, self.agent_id), direct_channel(origin, partner_name(room, self.agent_id))
        name = label(room_name(room, self.agent_id))
        space_id = origin if room.is_space else self.spaces.get(origin)
        if space_id is None:
            return lone_server(room, origin, self.agent_id), ChannelRef(origin, name, visibility_of(room, None))
        space = self.rooms.get(self.current(space_id))
        # Who is in a space that the agent has left is not known.
        visibility = Visibility.RESTRICTED if space is None else visibility_of(room, space)
        return space_server(space_id, space, self.agent_id), ChannelRef(origin, name, visibility)

    def thread(self, room_id: str, root: str, name: str) -> Place:
        """Return a thread of a room as a server and a channel."""
        server, channel = self.place(room_id)
        return server, thread_channel(channel, root, name)

    def can_manage(self, room_id: str, user_id: str) -> bool:
        """Tell whether somebody manages the server of a room (architecture.md, Places and rights)."""
        room = self.rooms[room_id]
        if self.is_direct(room_id):
            return user_id != self.agent_id
        space_id = self.spaces.get(self.origin(room_id))
        if space_id is None:
            return room.manages(user_id)
        space = self.rooms.get(self.current(space_id))
        return space is not None and space.manages(user_id)

    def servers(self) -> Mapping[str, tuple[ServerRef, list[Room]]]:
        """Return every server by its id, with the rooms whose members are its members."""
        found: dict[str, tuple[ServerRef, list[Room]]] = {}
        for room_id, room in self.rooms.items():
            if room.replacement in self.rooms and self.origin(room.replacement) == self.origin(room_id):
                continue  # its successor stands for it
            server = self.place(room_id)[0]
            found.setdefault(server.external_id, (server, []))[1].append(room)
        return found


def direct_rooms(content: Json, person: str, room_id: str) -> dict[str, list[str]]:
    """Return the account's list of direct conversations with one more."""
    rooms = {user: list(texts(each)) for user, each in table(content).items()}
    if room_id not in rooms.get(person, []):
        rooms.setdefault(person, []).append(room_id)
    return rooms
