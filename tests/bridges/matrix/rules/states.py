"""Rooms for tables of rules: state written down shortly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bridges.matrix.rules.room import Room

OWNER, ANA, BEN, AGENT = "@owner:a.org", "@ana:a.org", "@ben:b.org", "@isthmus:a.org"


def event(kind: str, content: Mapping[str, Any], key: str = "", sender: str = OWNER, **more: Any) -> dict[str, Any]:
    """A state event."""
    return {"type": kind, "state_key": key, "sender": sender, "content": dict(content), "event_id": "$state", **more}


def member(user: str, membership: str = "join", name: str | None = None) -> dict[str, Any]:
    """Somebody's membership."""
    return event("m.room.member", {"membership": membership, **({"displayname": name} if name else {})}, user, user)


def room(room_id: str = "!room", *events: Mapping[str, Any], version: str = "12", kind: str | None = None) -> Room:
    """A room of the owner's, with further state."""
    create: dict[str, Any] = {"room_version": version, **({"type": kind} if kind else {})}
    found = Room(room_id)
    for each in (event("m.room.create", create), member(OWNER), *events):
        found.take(each)
    return found


def said(text: str, sender: str = ANA, event_id: str = "$said", **content: Any) -> dict[str, Any]:
    """A message."""
    return {
        "type": "m.room.message",
        "event_id": event_id,
        "sender": sender,
        "origin_server_ts": 1,
        "content": {"msgtype": "m.text", "body": text, **content},
    }


def edit(text: str, of: str = "$said", sender: str = ANA, event_id: str = "$edit", **content: Any) -> dict[str, Any]:
    """An edit of a message."""
    relation = {"rel_type": "m.replace", "event_id": of}
    new = {"msgtype": "m.text", "body": text}
    return said(f"* {text}", sender, event_id, **{"m.new_content": new, "m.relates_to": relation, **content})
