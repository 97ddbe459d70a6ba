"""Rooms that the agent is invited to, and rooms that take another one's place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from agent import logs
from agent.catalog import N_, translate
from bridges.matrix.client import CLIENT, NETWORK, Client, MatrixError, room_path
from bridges.matrix.rules.invitation import Invitation, invitation_in, is_welcome
from bridges.matrix.rules.values import Json, table
from bridges.matrix.world import World, direct_rooms

if TYPE_CHECKING:
    from bridges.matrix.settings import MatrixSettings

log = logs.get_logger(__name__)

DECLINED: Final = N_("I only join rooms that my operator lets me join.")


class Joining:
    """Accepts and declines invitations, and follows rooms that move."""

    def __init__(self, client: Client, world: World, settings: MatrixSettings) -> None:
        self._client = client
        self._world = world
        self._settings = settings
        self._followed: set[str] = set()

    async def read_direct(self) -> None:
        """Read which rooms the account has marked as direct conversations."""
        try:
            content = await self._client.call("GET", self._direct_path)
        except MatrixError as error:
            if error.status != 404:  # noqa: PLR2004 - HTTP's own number
                raise
            content = {}
        self._world.mark_direct(content)

    async def invited(self, rooms: Json) -> None:
        """Answer the invitations of a sync; one that cannot be answered now is shown again at the next start."""
        for room_id, invited in rooms.items():
            events = table(table(invited).get("invite_state")).get("events")
            state = [table(each) for each in events] if isinstance(events, list) else []
            invitation = invitation_in(room_id, state, self._world.agent_id)
            try:
                await self._answer(invitation)
            except (MatrixError, *NETWORK) as error:
                log.warning("invitation_not_answered", room=room_id, reason=str(error) or type(error).__name__)

    async def _answer(self, invitation: Invitation) -> None:
        # The people of a room that the agent is in move together.
        moves = bool(invitation.predecessor) and (
            (old := self._world.rooms.get(invitation.predecessor)) is not None and old.replacement == invitation.room_id
        )
        if not moves and not is_welcome(invitation, self._settings.invitations):
            reason = translate(self._settings.language, DECLINED)
            await self._client.call("POST", room_path(invitation.room_id, "leave"), {"reason": reason})
            log.info("invitation_declined", room=invitation.room_id, inviter=invitation.inviter)
            return
        if invitation.is_direct:
            await self.mark_direct(invitation.inviter, invitation.room_id)
        await self.join(invitation.room_id)
        log.info("invitation_accepted", room=invitation.room_id, inviter=invitation.inviter)

    async def join(self, room_id: str, via: str = "") -> None:
        """Join a room; `via` is a server that is in it.

        Raises:
            MatrixError: the homeserver refused.
        """
        query = {"server_name": via, "via": via} if via else None
        await self._client.call("POST", f"{CLIENT}/join/{quote(room_id, safe='')}", {}, query, deadline=120.0)

    async def mark_direct(self, person: str, room_id: str) -> None:
        """Mark a room as the direct conversation with somebody."""
        try:
            content = await self._client.call("GET", self._direct_path)
        except MatrixError as error:
            if error.status != 404:  # noqa: PLR2004 - HTTP's own number
                raise
            content = {}
        marked = direct_rooms(content, person, room_id)
        await self._client.call("PUT", self._direct_path, marked)
        self._world.mark_direct(marked)

    async def follow(self) -> None:
        """Join the rooms that take the place of those that the agent is in."""
        for room in list(self._world.rooms.values()):
            new = room.replacement
            if not new or new in self._world.rooms or new in self._followed:
                continue
            self._followed.add(new)
            via = str(room.event("m.room.tombstone").get("sender", "")).partition(":")[2]
            try:
                await self.join(new, via)
            except (MatrixError, *NETWORK) as error:
                log.warning("room_not_followed", old=room.room_id, new=new, reason=str(error))

    @property
    def _direct_path(self) -> str:
        return f"{CLIENT}/user/{quote(self._world.agent_id, safe='')}/account_data/m.direct"
