"""Whose invitations are accepted; pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bridges.matrix.rules.values import Json, table, text

if TYPE_CHECKING:
    from bridges.matrix.settings import Invitations


@dataclass(frozen=True, slots=True)
class Invitation:
    """An invitation as the homeserver shows it to who is not in the room yet."""

    room_id: str
    inviter: str
    is_direct: bool = False
    predecessor: str = ""


def invitation_in(room_id: str, state: Sequence[Json], agent_id: str) -> Invitation:
    """Read an invitation's stripped state."""
    inviter, is_direct, predecessor = "", False, ""
    for event in state:
        content = table(event.get("content"))
        if event.get("type") == "m.room.member" and event.get("state_key") == agent_id:
            inviter, is_direct = text(event.get("sender")), content.get("is_direct") is True
        elif event.get("type") == "m.room.create":
            predecessor = text(table(content.get("predecessor")).get("room_id"))
    return Invitation(room_id, inviter, is_direct, predecessor)


def is_welcome(invitation: Invitation, policy: Invitations) -> bool:
    """Tell whether the policy accepts an invitation: any list that names it will do."""
    _, _, server = invitation.inviter.partition(":")
    return (
        policy.everybody
        or invitation.room_id in policy.rooms
        or invitation.inviter in policy.people
        or (bool(server) and server in policy.servers)
    )
