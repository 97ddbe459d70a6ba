"""How the answer to a command reaches its asker: as notices that ping nobody, in the room or in private."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agent import logs
from agent.catalog import translate
from agent.commands import StepKind
from agent.fitting import notice_file
from agent.turn.split import MEASURES, split
from bridges.matrix.client import NETWORK, MatrixError
from bridges.matrix.commands.confirming import reactions_of
from bridges.matrix.places import split_channel
from bridges.matrix.rules.outgoing import Typing, notice_of, relation, transaction_of

if TYPE_CHECKING:
    from agent.commands import CommandReply
    from agent.places import ChannelRef
    from bridges.matrix.direct import DirectRooms
    from bridges.matrix.posting import Posting
    from bridges.matrix.world import World

log = logs.get_logger(__name__)

ELSEWHERE: Final = "✉️"
"""The reaction that says: the answer stands in our direct conversation."""
_MOST_PARTS: Final = 3
"""Notices of one answer; what is longer goes along as a file."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Who asked, where, and with which message."""

    event_id: str
    user_id: str
    channel: ChannelRef
    in_reply: bool = True
    """Whether the answer names the message; reactions are answered without."""


class Answering:
    """Says replies."""

    def __init__(
        self, posting: Posting, world: World, direct: DirectRooms, typing: Typing, *, language: str, limit: int
    ) -> None:
        self._posting = posting
        self._world = world
        self._direct = direct
        self._typing = typing
        self._language = language
        self._limit = limit

    async def say(self, asked: Asked, reply: CommandReply) -> str | None:
        """Say a reply, and return the id of its last notice; None when it could not be said."""
        try:
            return await self._say(asked, reply)
        except (MatrixError, *NETWORK) as error:
            log.warning("answer_not_said", event_id=asked.event_id, reason=str(error) or type(error).__name__)
            return None

    async def _say(self, asked: Asked, reply: CommandReply) -> str:
        origin, thread = split_channel(asked.channel.external_id)
        room_id = self._world.current(origin)
        relates = relation(thread, asked.event_id if asked.in_reply else None)
        if reply.private and not self._world.is_direct(room_id):
            encrypted = self._world.rooms[room_id].is_encrypted
            elsewhere = await self._direct.room_for(asked.user_id, encrypted=encrypted)
            await self._point(room_id, asked)
            room_id, relates = elsewhere, None
        parts = split(self._worded(reply), self._limit, MEASURES["bytes"]) or ("✓",)
        file = reply.file
        if len(parts) > _MOST_PARTS:
            parts, file = parts[:1], file or notice_file(reply.text)
        event_id = ""
        for number, part in enumerate(parts):
            content = notice_of(part)
            if relates is not None:
                content["m.relates_to"] = relates
            event_id = await self._posting.put(room_id, content, transaction_of(asked.event_id, "reply", str(number)))
        if file is not None:
            await self._posting.attach(room_id, event_id, file, f"{asked.event_id} file")
        for emoji in reactions_of(reply.steps):
            await self._react(room_id, event_id, emoji)
        return event_id

    def _worded(self, reply: CommandReply) -> str:
        """Return what a reply says in Matrix's terms, and how it is confirmed here."""
        text = self._typing.of(reply.text)
        if any(step.kind is StepKind.CONFIRM for step in reply.steps):
            text += "\n" + translate(self._language, "Or react to this message with ✅.")
        return text

    async def _point(self, room_id: str, asked: Asked) -> None:
        """Say in the room that the answer stands elsewhere, without a word."""
        if asked.in_reply:
            await self._react(room_id, asked.event_id, ELSEWHERE)

    async def _react(self, room_id: str, event_id: str, emoji: str) -> None:
        content = {"m.relates_to": {"rel_type": "m.annotation", "event_id": event_id, "key": emoji}}
        try:
            await self._posting.put(room_id, content, transaction_of(event_id, "reaction", emoji), "m.reaction")
        except MatrixError as error:
            log.debug("reaction_not_put", reason=str(error))
