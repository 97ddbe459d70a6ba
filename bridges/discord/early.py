"""Edits and deletions that arrive before the message that they are about: the gateway does not promise an order."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from cachetools import LRUCache

if TYPE_CHECKING:
    from collections.abc import Mapping

KEPT: Final = timedelta(seconds=60)
"""How long an edit or a deletion waits for its message, and how old a message is that may still be on its way."""
MOST: Final = 10_000
"""Messages that are remembered, and edits and deletions that wait; the oldest make room."""
_EPOCH: Final = 1_420_070_400_000
"""Milliseconds of Unix time at which snowflakes begin."""


def moment_of(snowflake: int) -> datetime:
    """Return when an id was given."""
    return datetime.fromtimestamp(((snowflake >> 22) + _EPOCH) / 1000, UTC)


def snowflake_at(moment: datetime) -> int:
    """Return the least id that could be given at a moment."""
    return max(int(moment.timestamp() * 1000) - _EPOCH, 0) << 22


@dataclass(frozen=True, slots=True)
class _Waiting:
    came: datetime
    edit: Mapping[str, Any] | None
    """The payload of the edit; None for a deletion."""


class Early:
    """Knows which messages came lately, and keeps what came before its message."""

    def __init__(self, size: int = MOST) -> None:
        self._came: LRUCache[int, str] = LRUCache(size)
        """When each message was last edited, as far as that was taken; empty: never."""
        self._waiting: LRUCache[int, _Waiting] = LRUCache(size)

    def created(self, message: Mapping[str, Any], now: datetime) -> Mapping[str, Any] | None:
        """Return a message as it is by now: None when its deletion came first; with a newer edit taken over."""
        message_id = int(message["id"])
        waiting = self._waiting.get(message_id)
        if waiting is not None and now - waiting.came <= KEPT:
            if waiting.edit is None:
                return None  # also when it is brought a second time
            if _is_newer(waiting.edit, message):
                message = {**message, **waiting.edit}
        self._waiting.pop(message_id, None)
        self._came[message_id] = max(self._came.get(message_id, ""), _edited(message))
        return message

    def is_taken(self, message_id: int, edit: Mapping[str, Any]) -> bool:
        """Tell whether a message was brought with this edit or a newer one; from now on it was."""
        before = self._came.get(message_id)
        if before is None:
            return False
        self._came[message_id] = max(before, _edited(edit))
        return _edited(edit) <= before

    def keep(self, message_id: int, edit: Mapping[str, Any] | None, now: datetime) -> bool:
        """Keep an edit (None: a deletion) for a message that may still be on its way; tell whether it was kept.

        A deletion stands, whatever edit comes after it; of two edits the newer one counts.
        """
        if message_id in self._came or now - moment_of(message_id) > KEPT:
            return False
        before = self._waiting.get(message_id)
        if before is None or (before.edit is not None and (edit is None or _is_newer(edit, before.edit))):
            self._waiting[message_id] = _Waiting(now, edit)
        return True


def _is_newer(edit: Mapping[str, Any], than: Mapping[str, Any]) -> bool:
    return _edited(edit) >= _edited(than)


def _edited(message: Mapping[str, Any]) -> str:
    """Return when a message was edited: Discord's times compare as texts, once their zone is the same."""
    edited = message.get("edited_timestamp")
    return datetime.fromisoformat(edited).astimezone(UTC).isoformat(timespec="microseconds") if edited else ""
