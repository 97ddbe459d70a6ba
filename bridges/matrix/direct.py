"""The room in which somebody is told what only they shall read: found, or created once and remembered."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from bridges.matrix.client import CLIENT, Client, MatrixError
from bridges.matrix.rules.values import text

if TYPE_CHECKING:
    from agent.bridge import State
    from bridges.matrix.joining import Joining
    from bridges.matrix.world import World

_REMEMBERED: Final = "direct:"
_KNOWN_WITHIN: Final = 15.0
"""Seconds in which the sync must tell of a room that was created."""
_LOOK: Final = 0.05


class DirectRooms:
    """Direct conversations, by person."""

    def __init__(self, client: Client, world: World, state: State, joining: Joining) -> None:
        self._client = client
        self._world = world
        self._state = state
        self._joining = joining
        self._creating: dict[str, asyncio.Lock] = {}

    async def room_for(self, user_id: str, *, encrypted: bool) -> str:
        """Return the direct conversation with somebody; a new one is encrypted when that is wanted.

        Raises:
            MatrixError: it could not be created.
            aiohttp.ClientError, TimeoutError, OSError: the homeserver did not answer.
        """
        async with self._creating.setdefault(user_id, asyncio.Lock()):
            remembered = await self._state.get(_REMEMBERED + user_id)
            marked = sorted(self._world.direct)
            for room_id in (remembered, *marked):
                if room_id and self._fits(room_id, user_id, encrypted=encrypted):
                    return room_id
            return await self._create(user_id, encrypted=encrypted)

    def _fits(self, room_id: str, user_id: str, *, encrypted: bool) -> bool:
        """Tell whether a room is the direct conversation with somebody, and as private as it must be."""
        room = self._world.rooms.get(room_id)
        if room is None or not self._world.is_direct(room_id) or (encrypted and not room.is_encrypted):
            return False
        return room.membership(user_id) in {"join", "invite"}

    async def _create(self, user_id: str, *, encrypted: bool) -> str:
        body: dict[str, Any] = {"preset": "trusted_private_chat", "is_direct": True, "invite": [user_id]}
        if encrypted:
            algorithm = {"algorithm": "m.megolm.v1.aes-sha2"}
            body["initial_state"] = [{"type": "m.room.encryption", "state_key": "", "content": algorithm}]
        room_id = text((await self._client.call("POST", f"{CLIENT}/createRoom", body)).get("room_id"))
        await self._joining.mark_direct(user_id, room_id)
        await self._state.put({_REMEMBERED + user_id: room_id})
        # Only when the sync has told of it is it known whether it is encrypted.
        async with asyncio.timeout(_KNOWN_WITHIN):
            while room_id not in self._world.rooms:  # noqa: ASYNC110 - the sync is elsewhere
                await asyncio.sleep(_LOOK)
        if not room_id:
            raise MatrixError(502, "M_UNKNOWN", "a room was created without an id")
        return room_id
