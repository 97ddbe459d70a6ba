"""Events that others relate to: remembered for a while, else asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from cachetools import LRUCache

from agent import logs
from bridges.matrix.client import NETWORK, MatrixError, room_path
from bridges.matrix.rules.content import said_in
from bridges.matrix.rules.relations import SAID, age, bundled_edit, is_valid_edit, relation_of
from bridges.matrix.rules.values import Json, table, text

if TYPE_CHECKING:
    from bridges.matrix.client import Client
    from bridges.matrix.encryption import Encryption

log = logs.get_logger(__name__)

_MOST: Final = 5_000
_LONGEST: Final = 4_000
"""Characters of a text that are remembered: enough to quote it."""


class Known:
    """The last events of every room, and the last edit of each."""

    def __init__(self, client: Client, encryption: Encryption) -> None:
        self._client = client
        self._encryption = encryption
        self._events: LRUCache[str, Json] = LRUCache(_MOST)
        self._edits: LRUCache[str, Json] = LRUCache(_MOST)

    def remember(self, event: Json) -> None:
        """Keep what others may relate to, without what is long in it."""
        self._events[text(event.get("event_id"))] = _shortened(event)

    async def event(self, room_id: str, event_id: str) -> Json | None:
        """Return an event as it was first said; None when it is not there, or cannot be read."""
        if not event_id.startswith("$"):
            return None
        if (found := self._events.get(event_id)) is not None:
            return found
        try:
            raw = await self._client.call("GET", room_path(room_id, "event", event_id))
        except (MatrixError, *NETWORK) as error:
            log.debug("event_not_found", reason=str(error))
            return None
        if (said := self._encryption.read(room_id, raw)) is None:
            return raw
        self.remember(said)
        if (edit := self.edit_of(room_id, said)) is not None:
            self.is_latest(event_id, edit)
        return said

    def edit_of(self, room_id: str, event: Json) -> Json | None:
        """Return the last valid edit of a message that came along with it."""
        bundled = bundled_edit(event)
        edit = None if bundled is None else self._encryption.read(room_id, bundled)
        return edit if edit is not None and is_valid_edit(edit, event) else None

    def is_latest(self, event_id: str, edit: Json) -> bool:
        """Take a valid edit of a message; False when a later one is known."""
        before = self._edits.get(event_id)
        if before is not None and age(before) > age(edit):
            return False
        self._edits[event_id] = _shortened(edit)
        return True

    def forget_edit(self, event_id: str) -> None:
        """Forget the last edit of a message, which was redacted, and the message, so that both are asked for anew."""
        self._edits.pop(event_id, None)
        self._events.pop(event_id, None)

    def content_now(self, event: Json) -> Json:
        """Return what a message holds by now."""
        edit = self._edits.get(text(event.get("event_id")))
        content = table(event.get("content"))
        return content if edit is None else table(table(edit.get("content")).get("m.new_content"))

    def words(self, event: Json, speaker: str) -> str:
        """Return what a message says by now, as one text."""
        kind = text(event.get("type"))
        if kind not in SAID:
            return ""
        said = said_in(kind, self.content_now(event), speaker, is_reply=bool(relation_of(event).answers))
        return "\n".join((said.text, *said.extras)) if said.text else "\n".join(said.extras)


def _shortened(event: Json) -> Json:
    kept: dict[str, Any] = {key: event[key] for key in _KEPT if key in event}
    kept["content"] = _short(table(event.get("content")))
    return kept


def _short(content: Json) -> dict[str, Any]:
    short: dict[str, Any] = {key: value for key, value in content.items() if key != "formatted_body"}
    if isinstance(short.get("body"), str):
        short["body"] = short["body"][:_LONGEST]
    if isinstance(short.get("m.new_content"), dict):
        short["m.new_content"] = _short(short["m.new_content"])
    return short


_KEPT: Final = ("event_id", "sender", "type", "origin_server_ts", "state_key", "redacts")
