"""The agent's own messages: sent under a transaction id, edited, redacted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agent import logs
from agent.bridge import OutcomeUnknown, SendFailed, Sent
from bridges.matrix.client import CLIENT, NETWORK, Client, MatrixError, room_path
from bridges.matrix.places import split_channel
from bridges.matrix.rules.outgoing import Typing, content_of, edit_of, relation, transaction_of
from bridges.matrix.rules.relations import MESSAGE
from bridges.matrix.rules.room import shown_name
from bridges.matrix.rules.values import table, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.bridge import OutgoingMessage, SentMessage
    from agent.files import ReplyFile
    from agent.places import ChannelRef
    from bridges.matrix.encryption import Encryption
    from bridges.matrix.media import Media
    from bridges.matrix.world import World

log = logs.get_logger(__name__)

TRY_AGAIN: Final = 5.0
"""Seconds after which what failed on the homeserver's side is tried again."""
_TYPING: Final = 30_000
"""Milliseconds for which it is shown that an answer is being written."""


class Posting:
    """Posts, edits and redacts."""

    def __init__(self, client: Client, world: World, encryption: Encryption, media: Media, typing: Typing) -> None:
        self._client = client
        self._world = world
        self._encryption = encryption
        self._media = media
        self._typing = typing
        self._writes: set[str] = set()
        """Rooms in which it is shown that an answer is being written."""

    async def send(self, message: OutgoingMessage) -> Sent | OutcomeUnknown:
        """Post a message; the same key twice posts it once.

        Raises:
            SendFailed: the homeserver refused.
        """
        origin, thread = split_channel(message.channel.external_id)
        room_id = self._world.current(origin)
        content = content_of(message, lambda user: self._name(room_id, user), self._typing)
        if (relates := relation(thread, message.reply_to)) is not None:
            content["m.relates_to"] = relates
        try:
            event_id = await self.put(room_id, content, transaction_of(message.key))
            if message.file is not None:
                await self.attach(room_id, event_id, message.file, message.key)
        except NETWORK as error:
            return OutcomeUnknown(type(error).__name__)
        except MatrixError as error:
            raise failure_of(error) from error
        await self._stop_typing(room_id)
        return Sent(event_id)

    async def put(self, room_id: str, content: Mapping[str, Any], transaction: str, kind: str = MESSAGE) -> str:
        """Send an event, encrypted where the room is, and return its id.

        Raises:
            MatrixError: the homeserver refused.
            aiohttp.ClientError, TimeoutError, OSError: it did not answer.
        """
        kind, sent = await self._encryption.prepared(room_id, kind, content)
        answer = await self._client.call("PUT", room_path(room_id, "send", kind, transaction), sent)
        return text(answer.get("event_id"))

    async def attach(self, room_id: str, event_id: str, file: ReplyFile, key: str) -> str:
        """Post a file that belongs to a message."""
        room = self._world.rooms.get(room_id)
        content = await self._media.upload(file, encrypt=room is not None and room.is_encrypted)
        content["m.relates_to"] = {"rel_type": "m.reference", "event_id": event_id}
        return await self.put(room_id, content, transaction_of(key, "file"))

    async def edit(self, message_id: str, message: OutgoingMessage) -> None:
        """Give a message another text.

        Raises:
            SendFailed: the homeserver refused, or did not answer.
        """
        room_id = self._world.current(split_channel(message.channel.external_id)[0])
        content = content_of(message, lambda user: self._name(room_id, user), self._typing)
        transaction = transaction_of(message.key, "edit", message_id, message.text)
        try:
            await self.put(room_id, edit_of(content, message_id), transaction)
        except NETWORK as error:
            raise SendFailed(type(error).__name__, retry_after=TRY_AGAIN) from error
        except MatrixError as error:
            raise failure_of(error) from error

    async def withdraw(self, message: SentMessage) -> None:
        """Redact a message and the file that came with it; one that is gone already is done.

        Raises:
            SendFailed: the homeserver refused, or did not answer.
        """
        origin, _ = split_channel(message.channel_id)
        try:
            for room_id in self._world.lives(origin):
                if await self._redact(room_id, message.message_id):
                    return
        except NETWORK as error:
            raise SendFailed(type(error).__name__, retry_after=TRY_AGAIN) from error
        except MatrixError as error:
            raise failure_of(error) from error

    async def _redact(self, room_id: str, event_id: str) -> bool:
        """Redact an event and what refers to it; False when it is not there."""
        try:
            answer = await self._client.call(
                "GET", f"/_matrix/client/v1{room_path(room_id, 'relations', event_id)[len(CLIENT) :]}/m.reference"
            )
            files = [text(table(each).get("event_id")) for each in answer.get("chunk", []) if self._is_own(each)]
            for each in (event_id, *files):
                path = room_path(room_id, "redact", each, transaction_of(each, "redact"))
                await self._client.call("PUT", path, {})
        except MatrixError as error:
            if error.status == 404 or (error.status == 400 and not event_id.startswith("$")):  # noqa: PLR2004 - HTTP's
                return False
            raise
        return True

    def _is_own(self, event: Any) -> bool:
        return table(event).get("sender") == self._world.agent_id

    async def typing(self, channel: ChannelRef) -> None:
        """Show that an answer is being written; a failure is only comfort lost."""
        room_id = self._world.current(split_channel(channel.external_id)[0])
        if room_id in self._world.rooms and await self._show_typing(room_id, {"typing": True, "timeout": _TYPING}):
            self._writes.add(room_id)

    async def _stop_typing(self, room_id: str) -> None:
        if room_id in self._writes:
            self._writes.discard(room_id)
            await self._show_typing(room_id, {"typing": False})

    async def _show_typing(self, room_id: str, body: Mapping[str, Any]) -> bool:
        try:
            await self._client.call("PUT", room_path(room_id, "typing", self._world.agent_id), body, deadline=5.0)
        except (MatrixError, *NETWORK) as error:
            log.debug("typing_not_shown", reason=type(error).__name__)
            return False
        return True

    def _name(self, room_id: str, user_id: str) -> str:
        room = self._world.rooms.get(room_id)
        return user_id if room is None else shown_name(room, user_id)


def failure_of(error: MatrixError) -> SendFailed:
    """Return a refusal in words; what may pass is tried again."""
    retry = (error.retry_after or TRY_AGAIN) if error.is_passing else None
    return SendFailed(f"Matrix answered {error}", retry_after=retry)
