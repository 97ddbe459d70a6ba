"""What cannot be read yet: said once, quietly; taken up when its key comes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent import logs
from agent.catalog import translate
from bridges.matrix.client import NETWORK, MatrixError
from bridges.matrix.rules.outgoing import notice_of, relation, transaction_of
from bridges.matrix.rules.relations import ENCRYPTED, relation_of
from bridges.matrix.rules.values import Json, text

if TYPE_CHECKING:
    from bridges.matrix.encryption import Encryption
    from bridges.matrix.posting import Posting

log = logs.get_logger(__name__)


class Unread:
    """Keeps what cannot be read, and tells its sender."""

    def __init__(self, encryption: Encryption, posting: Posting, language: str) -> None:
        self._encryption = encryption
        self._posting = posting
        self._language = language

    async def take(self, room_id: str, event: Json) -> None:
        """Take an event whose key is missing; of several of one sender only the first is answered."""
        if event.get("type") != ENCRYPTED or not await self._encryption.wait_for_key(room_id, event):
            return
        said = translate(
            self._language,
            "I cannot read this message: its key has not reached me yet. I take it up once the key is here.",
        )
        event_id, relates = text(event.get("event_id")), relation_of(event)
        content = notice_of(said)
        content["m.relates_to"] = relation(relates.thread, event_id)
        try:
            await self._posting.put(room_id, content, transaction_of(event_id, "unread"))
        except (MatrixError, *NETWORK) as error:
            log.debug("unread_not_told", reason=str(error))
