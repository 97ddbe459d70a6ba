"""Encrypted rooms: keys are exchanged, what is said is encrypted and read, and what cannot be read yet waits."""

from __future__ import annotations

import json
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final

import nio

from agent import logs
from bridges.matrix.client import NETWORK, Client, MatrixError, copy_of
from bridges.matrix.rules.relations import ENCRYPTED
from bridges.matrix.rules.values import Json, table, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.bridge import State

log = logs.get_logger(__name__)

MOST_WAITING: Final = 200
_WAITING: Final = "unread:"


class Encryption:
    """What the bridge does with keys. Every device of a room's members gets the keys of what the agent says there."""

    def __init__(self, client: Client, state: State) -> None:
        self._client = client
        self._state = state
        self._waiting: OrderedDict[str, tuple[str, Json]] = OrderedDict()
        """What could not be read: event id to its room and itself; kept across restarts."""
        self._noted: set[tuple[str, str]] = set()
        """Room and sender of whom it was said that they cannot be read."""

    @property
    def _olm(self) -> Any:
        return self._client.nio.olm

    async def load(self) -> None:
        """Read what waited before this start."""
        for key, value in (await self._state.below(_WAITING)).items():
            kept = json.loads(value)
            self._waiting[key.removeprefix(_WAITING)] = (kept["room"], kept["event"])

    async def maintain(self) -> None:
        """Do what keys need after a sync: upload ours, ask for others', and send what waits to be sent to devices."""
        client = self._client.nio
        if self._olm is None:
            return
        try:
            if client.should_upload_keys:
                await client.keys_upload()
            if client.should_query_keys:
                await client.keys_query()
            if client.should_claim_keys:
                await client.keys_claim(client.get_users_for_key_claiming())
            await client.send_to_device_messages()
        except (*NETWORK, nio.LocalProtocolError) as error:
            log.warning("keys_not_exchanged", reason=type(error).__name__)

    def read(self, room_id: str, event: Json) -> Json | None:
        """Return an event as it was said; None when it cannot be read now."""
        if event.get("type") != ENCRYPTED:
            return event
        if self._olm is None:
            return None
        parsed = nio.MegolmEvent.from_dict({**copy_of(event), "room_id": room_id})
        if not isinstance(parsed, nio.MegolmEvent):
            return None
        try:
            found = self._olm.decrypt_megolm_event(parsed, room_id)
        except nio.EncryptionError:
            return None
        return opened(event, table(getattr(found, "source", None)))

    async def prepared(self, room_id: str, kind: str, content: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
        """Return an event as it is sent: encrypted where the room is.

        Raises:
            MatrixError: the keys cannot be exchanged now, or encryption is off and the room is encrypted.
        """
        client = self._client.nio
        room = client.rooms.get(room_id)
        if room is None:  # whether it is encrypted is not known
            raise MatrixError(404, "M_NOT_FOUND", "the agent is not in that room")
        if kind == "m.reaction" or not room.encrypted:
            return kind, content
        if self._olm is None:
            raise MatrixError(403, "ENCRYPTED", "the room is encrypted, and bridges.matrix.encryption is off")
        if not room.members_synced:
            await client.joined_members(room_id)
        if client.should_query_keys:
            await client.keys_query()
        if self._olm.should_share_group_session(room_id):
            await self._share(room_id)
        try:
            encrypted: tuple[str, Mapping[str, Any]] = client.encrypt(room_id, kind, dict(content))
        except (nio.LocalProtocolError, nio.EncryptionError) as error:
            raise MatrixError(503, "KEYS", f"the keys are not exchanged yet ({type(error).__name__})") from error
        return encrypted

    async def _share(self, room_id: str) -> None:
        """Give everybody's devices the key of what is said next; of two at once the second waits for the first."""
        running = self._client.nio.sharing_session.get(room_id)
        if running is not None:
            await running.wait()
            return
        shared = await self._client.nio.share_group_session(room_id, ignore_unverified_devices=True)
        if isinstance(shared, nio.ErrorResponse):
            log.warning("keys_not_shared", room=room_id, reason=str(shared))

    async def wait_for_key(self, room_id: str, event: Json) -> bool:
        """Keep an event until its key comes; tell whether it is the first of its sender that waits in that room."""
        event_id = text(event.get("event_id"))
        if event_id in self._waiting:
            return False
        self._waiting[event_id] = (room_id, event)
        await self._state.put({_WAITING + event_id: json.dumps({"room": room_id, "event": dict(event)})})
        while len(self._waiting) > MOST_WAITING:
            oldest, _ = self._waiting.popitem(last=False)
            await self._state.remove(_WAITING + oldest)
        whose = (room_id, text(event.get("sender")))
        is_first = whose not in self._noted
        self._noted.add(whose)
        return is_first

    def now_readable(self) -> list[tuple[str, str, Json]]:
        """Return what waited and can be read by now: the event's id, its room and what was said; they still wait."""
        found = []
        for event_id, (room_id, event) in self._waiting.items():
            if (said := self.read(room_id, event)) is not None:
                found.append((event_id, room_id, said))
        return found

    async def taken(self, event_id: str) -> None:
        """Let go of an event that the core has taken."""
        room_id, event = self._waiting.pop(event_id)
        self._noted.discard((room_id, text(event.get("sender"))))
        await self._state.remove(_WAITING + event_id)


def opened(event: Json, inner: Json) -> Json | None:
    """Return an encrypted event as what it holds; only type and content are taken from inside, all else is public.

    A redacted one holds nothing.
    """
    kind, content = text(inner.get("type")), inner.get("content")
    if not kind or not isinstance(content, dict):
        return None
    relates = table(event.get("content")).get("m.relates_to")
    content = {**content, **({"m.relates_to": relates} if isinstance(relates, dict) else {})}
    return {**event, "type": kind, "content": content}
