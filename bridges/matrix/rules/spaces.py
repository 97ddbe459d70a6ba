"""Which space a room belongs to, and who can read it: pure functions over rooms' state."""

from __future__ import annotations

from collections.abc import Mapping

from agent.places import Visibility
from bridges.matrix.rules.room import Room
from bridges.matrix.rules.values import table, text, texts


def agreed_space(room: Room, rooms: Mapping[str, Room]) -> str | None:
    """Return the space that a room belongs to, or None.

    The space must name the room as a child and the room the space as its canonical parent, each with a server to reach
    the other by, and each said by somebody who manages that side now. Of several the one with the smallest id counts,
    as Matrix has it.
    """
    for parent_id in sorted(room.keys("m.space.parent")):
        space = rooms.get(parent_id)
        parent = room.event("m.space.parent", parent_id)
        content = table(parent.get("content"))
        if space is None or not space.is_space or content.get("canonical") is not True or not texts(content.get("via")):
            continue
        child = space.event("m.space.child", room.room_id)
        if not texts(table(child.get("content")).get("via")):
            continue
        if room.manages(text(parent.get("sender"))) and space.manages(text(child.get("sender"))):
            return parent_id
    return None


def settled_space(room: Room, rooms: Mapping[str, Room], pinned: str | None) -> str | None:
    """Return the space that a room belongs to, given the one that was decided before.

    What was decided stays, whatever either side says later; only somebody who manages the old space and the room moves
    it to a space whose managers agree.
    """
    agreed = agreed_space(room, rooms)
    if pinned is None or agreed is None or agreed == pinned:
        return agreed if pinned is None else pinned
    old = rooms.get(pinned)
    mover = text(room.event("m.space.parent", agreed).get("sender"))
    return agreed if old is not None and old.manages(mover) else pinned


def visibility_of(room: Room, space: Room | None) -> Visibility:
    """Return whether every member of the server can read a room: now, and what was said before they came.

    The server is the space that the room belongs to, or the room itself when there is none. Nobody reads what was
    encrypted before they came, so an encrypted room is for some.
    """
    if room.is_encrypted or room.history_visibility not in {"shared", "world_readable"}:
        return Visibility.RESTRICTED
    if space is None or room.room_id == space.room_id:
        return Visibility.EVERYONE
    if not (room.history_visibility == "world_readable" or _is_open_to(room, space.room_id)):
        return Visibility.RESTRICTED
    shut_out = set(room.members("ban")) & set(space.members("join", "invite"))
    return Visibility.RESTRICTED if shut_out else Visibility.EVERYONE


def _is_open_to(room: Room, space_id: str) -> bool:
    """Tell whether every member of a space may join a room."""
    if room.join_rule == "public":
        return True
    if room.join_rule not in {"restricted", "knock_restricted"}:
        return False
    allowed = room.content("m.room.join_rules").get("allow")
    return any(
        table(each).get("type") == "m.room_membership" and table(each).get("room_id") == space_id
        for each in (allowed if isinstance(allowed, list) else ())
    )


def follows(new: Room, old: Room) -> bool:
    """Tell whether a room has taken another one's place: both say so."""
    return old.replacement == new.room_id and new.predecessor == old.room_id
