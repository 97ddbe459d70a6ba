"""Rooms, spaces and threads as the core names them; pure functions."""

from __future__ import annotations

from typing import Final

from agent.places import ChannelRef, ServerKind, ServerRef, Visibility
from agent.text import clean, clip, one_line
from bridges.matrix.rules.room import Room, room_name, shown_name

PLATFORM: Final = "matrix"
_LONGEST: Final = 200
_LONGEST_THREAD: Final = 60
_THREAD: Final = "/$"
"""Between room and root in the id of a thread's channel; ids of events begin with a dollar sign."""


def label(name: str, limit: int = _LONGEST) -> str:
    """Return a name of a room as one bounded line."""
    return clip(one_line(clean(name)), limit)


def lone_server(room: Room, external_id: str, agent_id: str) -> ServerRef:
    """Return a room without a space as a server of its own."""
    return ServerRef(PLATFORM, external_id, label(room_name(room, agent_id)), ServerKind.ROOM)


def space_server(space_id: str, space: Room | None, agent_id: str) -> ServerRef:
    """Return a space as a server."""
    return ServerRef(PLATFORM, space_id, label(room_name(space, agent_id)) if space else space_id, ServerKind.GUILD)


def direct_server(room: Room, external_id: str, agent_id: str) -> ServerRef:
    """Return the conversation with one person as a server of its own."""
    return ServerRef(PLATFORM, f"direct:{external_id}", partner_name(room, agent_id), ServerKind.DIRECT)


def partner_name(room: Room, agent_id: str) -> str:
    """Return the name of the other one in a direct conversation."""
    others = [user for user in room.members("join", "invite") if user != agent_id]
    return label(shown_name(room, others[0]) if others else room_name(room, agent_id))


def thread_channel(parent: ChannelRef, root: str, name: str) -> ChannelRef:
    """Return a thread, whose readers are its room's; `name` is what its first message says."""
    shown = label(name, _LONGEST_THREAD) or "thread"
    visibility = parent.visibility
    return ChannelRef(f"{parent.external_id}/{root}", shown, visibility, parent.external_id, parent.name)


def split_channel(external_id: str) -> tuple[str, str]:
    """Return the room of a channel's id, and the root of the thread; empty when it is no thread."""
    room, found, root = external_id.partition(_THREAD)
    return (room, f"${root}") if found else (external_id, "")


def direct_channel(external_id: str, name: str) -> ChannelRef:
    """Return the channel of a direct conversation."""
    return ChannelRef(external_id, name, Visibility.DIRECT)
