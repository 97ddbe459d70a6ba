"""The relay's users in rooms: made when they first speak, and named and pictured as those for whom they stand."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cachetools import LRUCache

from agent import logs
from agent.events import Attachment
from agent.files import MEBIBYTE, FileRefused
from bridges.relay.homeserver import HomeserverRefused
from bridges.relay.repository import DISCORD

if TYPE_CHECKING:
    from bridges.relay.ties import Ties

log = logs.get_logger(__name__)

_KEPT: Final = "user:"
_PICTURE_LIMIT: Final = 2 * MEBIBYTE
_MOST: Final = 20_000
_NAME_LIMIT: Final = 200


def _mark(text: str) -> str:
    """Return what tells a text from another one and does not tell the text: who is forgotten leaves no name here."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Looks:
    """How one of the relay's users shows."""

    user_id: str
    name: str
    picture: str | None = None
    """An address that everybody can load, or one of Matrix."""
    is_platforms: bool = False
    """Whether the other platform itself gave the address."""


class Users:
    """Makes users, lets them join, keeps their looks."""

    def __init__(self, ties: Ties) -> None:
        self._ties = ties
        self._shown: LRUCache[str, tuple[str, str]] = LRUCache(_MOST)
        """Name and picture that each user has by now."""
        self._joined: set[tuple[str, str]] = set()

    async def present(self, room: str, looks: Looks) -> None:
        """Let a user be in a room and look as it should; the agent's own is there already.

        Raises:
            HomeserverRefused, Unreachable: it cannot be.
        """
        wanted = (looks.name[:_NAME_LIMIT], looks.picture or "")
        if self._shown.get(looks.user_id) != wanted:
            await self._make(looks, wanted)
        if looks.user_id != self._ties.names.agent and (room, looks.user_id) not in self._joined:
            await self._join(room, looks.user_id)
            self._joined.add((room, looks.user_id))
        self._note(room, looks.user_id, wanted[0])

    def _note(self, room_id: str, user_id: str, name: str) -> None:
        """Know how a user is called in a room: what its own users do is not heard of."""
        room = self._ties.rooms.get(room_id)
        if room is not None and (room.membership(user_id) != "join" or room.display_name(user_id) != name):
            content = {"membership": "join", "displayname": name}
            room.take({"type": "m.room.member", "state_key": user_id, "content": content})

    def left(self, room: str, user_id: str) -> None:
        """Know that a user is not in a room any more."""
        self._joined.discard((room, user_id))

    async def _make(self, looks: Looks, wanted: tuple[str, str]) -> None:
        home, state, key = self._ties.home, self._ties.state, _KEPT + looks.user_id
        kept, marks = json.loads(await state.get(key) or "null"), [_mark(each) for each in wanted]
        if kept is None:
            await home.register(looks.user_id[1:].partition(":")[0])
            kept = ["", _mark("")]
        if kept[0] != marks[0]:
            await home.set_profile(looks.user_id, "displayname", wanted[0])
        if kept[1] != marks[1]:
            await self._picture(looks)
        if marks != kept:
            await state.put({key: json.dumps(marks)})
        self._shown[looks.user_id] = wanted

    async def _picture(self, looks: Looks) -> None:
        """Give a user a picture; one that cannot be had is left out.

        Only the other platform's own pictures are fetched: an address that somebody could choose might be anything that
        this machine can reach.
        """
        address, bridge = "", self._ties.relaying.bridge(DISCORD)
        if looks.picture and looks.picture.startswith("mxc://"):
            address = looks.picture
        elif looks.picture and looks.is_platforms and bridge is not None:
            file = Attachment("picture", "image/png", 0, looks.picture)
            try:
                content = await bridge.fetch(file, _PICTURE_LIMIT)
                address = await self._ties.home.upload("picture.png", content, "image/png", looks.user_id)
            except (FileRefused, HomeserverRefused) as error:
                log.info("picture_left_out", user=looks.user_id, reason=str(error))
                return
        await self._ties.home.set_profile(looks.user_id, "avatar_url", address)

    async def _join(self, room: str, user_id: str) -> None:
        home = self._ties.home
        try:
            await home.join(room, user_id)
        except HomeserverRefused:
            try:
                await home.invite(room, user_id)
            except HomeserverRefused as refused:
                log.info("user_not_invited", room=room, user=user_id, reason=str(refused))
            await home.join(room, user_id)
