"""Matrix's events as the core's, in the order of their room."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from agent import logs
from agent.events import MessageCreated, MessageDeleted, MessageEdited, ReactionAdded, Reply
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.store.errors import StoreError
from bridges.matrix.places import PLATFORM
from bridges.matrix.reading import Reading, moment_of
from bridges.matrix.rules.content import is_reply, mentioned_in, said_in
from bridges.matrix.rules.relations import (
    ENCRYPTED,
    SAID,
    Relation,
    is_redacted,
    is_valid_edit,
    redacted_by,
    relation_of,
)
from bridges.matrix.rules.values import Json, table, text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agent.bridge import BridgeHost
    from agent.events import Event
    from agent.places import ChannelRef, ServerRef
    from bridges.matrix.encryption import Encryption
    from bridges.matrix.known import Known
    from bridges.matrix.world import World

log = logs.get_logger(__name__)

_PAUSE: Final = 1.0
"""Seconds until the core is given an event again that it could not take."""


class Incoming:
    """Brings what happens in rooms to the core."""

    def __init__(self, world: World, host: BridgeHost, known: Known, encryption: Encryption, reading: Reading) -> None:
        self._world = world
        self._host = host
        self._known = known
        self._encryption = encryption
        self._reading = reading
        self.commanded: Callable[[MessageCreated], Awaitable[bool]] = _never
        """Takes a message that is a command, or confirms one, and tells so."""
        self.reacted: Callable[[ReactionAdded], Awaitable[bool]] = _never
        """Takes a reaction that confirms a command, and tells so."""
        self.unreadable: Callable[[str, Json], Awaitable[None]] | None = None
        """Is told of an event that cannot be read yet: its room and itself."""

    async def take(self, room_id: str, raw: Json) -> None:
        """Bring one event of a room; the agent's own, and what is no event of people, are dropped."""
        if room_id not in self._world.rooms or "state_key" in raw or is_redacted(raw):
            return
        event = self._encryption.read(room_id, raw)
        own = raw.get("sender") == self._world.agent_id
        if event is None:
            if not own and self.unreadable is not None:
                await self.unreadable(room_id, raw)
            return
        kind = event.get("type")
        if kind == "m.room.redaction":
            if not own:
                await self._redacted(room_id, event)
            return
        self._known.remember(event)
        if own:
            return
        if kind in SAID:
            relation = relation_of(event)
            await (self._edited(room_id, event, relation) if relation.replaces else self.created(room_id, event))
        elif kind == "m.reaction":
            await self._reacted(room_id, event)

    async def created(self, room_id: str, event: Json) -> None:
        """Bring a new message."""
        content, event_id = table(event.get("content")), text(event.get("event_id"))
        author, relation = self._reading.author(room_id, event), relation_of(event)
        said = said_in(text(event.get("type")), content, author.display_name, is_reply=is_reply(event))
        if not (said.text or said.attachments or said.extras):
            return
        mentioned = mentioned_in(content, text(content.get("body")))
        message = MessageCreated(
            PLATFORM,
            event_id,
            event_id,
            *await self._place(room_id, relation.thread),
            author,
            said.text,
            moment_of(event),
            mentions_agent=self._world.agent_id in mentioned,
            mentions=tuple(
                ParticipantKey(ParticipantKind.MATRIX_USER, each) for each in mentioned if each != self._world.agent_id
            ),
            reply=await self._reply(room_id, relation),
            attachments=said.attachments,
            extras=said.extras,
        )
        if author.is_bot or not await self.commanded(message):
            await self.bring(message)

    async def _place(self, room_id: str, root: str) -> tuple[ServerRef, ChannelRef]:
        if not root:
            return self._world.place(room_id)
        first = await self._known.event(room_id, root)
        words = "" if first is None else self._known.words(first, text(first.get("sender")))
        return self._world.thread(room_id, root, words)

    async def _reply(self, room_id: str, relation: Relation) -> Reply | None:
        if not relation.answers:
            return None
        own = await self._host.own_messages(PLATFORM, [relation.answers])
        answered = await self._known.event(room_id, relation.answers)
        persona = own.get(relation.answers)
        if answered is None:
            return Reply(relation.answers, relation.answers in own, persona)
        author = self._reading.author(room_id, answered)
        to_agent = relation.answers in own or author.external_id == self._world.agent_id
        return Reply(relation.answers, to_agent, persona, author, self._known.words(answered, author.display_name))

    async def _edited(self, room_id: str, edit: Json, relation: Relation) -> None:
        """Bring an edit that Matrix's rules let count and that no later one has overtaken."""
        original = await self._known.event(room_id, relation.replaces)
        if original is None or not is_valid_edit(edit, original):
            log.debug("edit_not_valid", event_id=edit.get("event_id"))
            return
        if self._known.is_latest(relation.replaces, edit):
            await self._now_says(room_id, original, edit)

    async def _now_says(self, room_id: str, original: Json, cause: Json) -> None:
        """Bring what a message says by now, because of an edit or of an edit's redaction."""
        author = self._reading.author(room_id, original)
        server, channel = await self._place(room_id, relation_of(original).thread)
        content = self._known.content_now(original)
        said = said_in(text(original.get("type")), content, author.display_name, is_reply=is_reply(original))
        ids = text(cause.get("event_id")), text(original.get("event_id"))
        await self.bring(MessageEdited(PLATFORM, *ids, server, channel, author, said.text, moment_of(cause)))

    async def _redacted(self, room_id: str, redaction: Json) -> None:
        """Bring the deletion of a message; of an edit, that its message says again what it said before."""
        target = redacted_by(redaction)
        event = await self._known.event(room_id, target)
        kind = "" if event is None else text(event.get("type"))
        if kind and kind not in {*SAID, ENCRYPTED}:
            return
        relation = Relation() if event is None else relation_of(event)
        if relation.replaces:
            self._known.forget_edit(relation.replaces)
            original = await self._known.event(room_id, relation.replaces)
            if original is not None and table(original.get("content")):
                await self._now_says(room_id, original, redaction)
            return
        place = await self._place(room_id, relation.thread)
        self._known.forget_edit(target)
        event_id = text(redaction.get("event_id"))
        await self.bring(MessageDeleted(PLATFORM, event_id, target, *place, moment_of(redaction)))

    async def _reacted(self, room_id: str, event: Json) -> None:
        relation = relation_of(event)
        if not relation.reacts_to or not relation.reaction:
            return
        target = await self._known.event(room_id, relation.reacts_to)
        thread = "" if target is None else relation_of(target).thread
        reaction = ReactionAdded(
            PLATFORM,
            text(event.get("event_id")),
            relation.reacts_to,
            *await self._place(room_id, thread),
            self._reading.author(room_id, event),
            relation.reaction,
            moment_of(event),
        )
        if not await self.reacted(reaction):
            await self.bring(reaction)

    async def bring(self, event: Event) -> None:
        """Give an event to the core, again and again while its database is away; the order of the room is kept."""
        while True:
            try:
                await self._host.receive(event)
            except StoreError as error:
                log.warning("event_waits_for_database", event_id=event.event_id, reason=str(error))
                await asyncio.sleep(_PAUSE)
            else:
                return


async def _never(_: object) -> bool:
    return False
