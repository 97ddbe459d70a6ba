"""From a channel to a room: what people and the agent say there is said by the relay's users."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from agent import logs
from agent.events import MessageCreated, MessageDeleted, MessageEdited, ReactionAdded, load_event
from agent.files import MEBIBYTE, FileRefused
from agent.identity.keys import ParticipantKind
from agent.store.outbox import load_message
from agent.text import one_line
from bridges.matrix.rules.outgoing import Typing
from bridges.matrix.rules.outgoing import content_of as card_content
from bridges.relay.hearing import SAID, WITHDRAWN
from bridges.relay.homeserver import HomeserverRefused
from bridges.relay.repository import DISCORD, Pair
from bridges.relay.to_matrix_text import content_of, edit_of, file_content, mentions_of, relation
from bridges.relay.users import Looks, Users

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.bridge import OutgoingMessage
    from agent.events import Attachment, Author
    from agent.identity.keys import ParticipantKey
    from agent.places import ChannelRef, ServerRef
    from bridges.relay.repository import Link, Waiting
    from bridges.relay.ties import Ties

log = logs.get_logger(__name__)

type Content = dict[str, Any]
_FORBIDDEN: Final = 403


@dataclass(frozen=True, slots=True)
class _Saying:
    """What one message is carried as."""

    message_id: str
    server: ServerRef
    channel: ChannelRef
    looks: Looks
    contents: tuple[Content, ...]
    answers: str | None
    mentions: tuple[ParticipantKey, ...]
    author: Author | None


class ToMatrix:
    """Carries what happens in channels."""

    def __init__(self, ties: Ties, users: Users) -> None:
        self._ties = ties
        self._users = users
        self._typing = Typing("!", frozenset(command.path[0] for command in ties.host.commands))

    async def carry(self, waiting: Waiting, link: Link, is_doubtful: bool) -> None:  # noqa: FBT001 - the lanes' form
        """Carry one thing that happened in a channel."""
        if waiting.kind == SAID:
            await self._agent_said(waiting, link, is_doubtful=is_doubtful)
            return
        if waiting.kind == WITHDRAWN:
            await self._deleted(waiting.target or "", link)
            return
        match load_event(waiting.payload):
            case MessageCreated() as event:
                await self._say(await self._of_person(event, link), link, is_doubtful=is_doubtful)
            case MessageEdited() as event:
                content = await self._content(event.text, (), event.server)
                await self._edit(event.message_id, content, event.event_id, link)
            case MessageDeleted() as event:
                await self._deleted(event.message_id, link)
            case ReactionAdded() as event:
                await self._reacted(event, link)

    # What is said ---------------------------------------------------------------------------------------------

    async def _of_person(self, event: MessageCreated, link: Link) -> _Saying:
        looks = self._looks_of(event.author)
        await self._users.present(link.room_id, looks)
        contents = []
        if event.text.strip() or event.extras:
            contents.append(await self._content(event.text, event.extras, event.server))
        contents += [await self._file(each, looks.user_id) for each in event.attachments]
        return _Saying(
            event.message_id,
            event.server,
            event.channel,
            looks,
            tuple(contents),
            event.reply.message_id if event.reply else None,
            event.mentions,
            event.author,
        )

    def _looks_of(self, author: Author) -> Looks:
        user = self._ties.names.person(author.external_id)
        return Looks(user, author.display_name, author.avatar, is_platforms=True)

    async def _agent_said(self, waiting: Waiting, link: Link, *, is_doubtful: bool) -> None:
        payload = json.loads(waiting.payload)
        message, message_id = load_message(json.dumps(payload["message"])), str(payload["message_id"])
        if payload["is_edit"]:
            await self._edit(message_id, await self._agents_content(message), waiting.event_id, link)
            return
        looks = self._agents_looks(message)
        await self._users.present(link.room_id, looks)
        contents = [await self._agents_content(message)] if message.text.strip() or message.card is not None else []
        if message.code is not None:
            contents.append(
                await self._upload(message.code.name, message.code.text.encode(), "text/plain", looks.user_id)
            )
        saying = _Saying(
            message_id,
            message.server,
            message.channel,
            looks,
            tuple(contents),
            message.reply_to,
            message.mentions,
            None,
        )
        await self._say(saying, link, is_doubtful=is_doubtful)

    def _agents_looks(self, message: OutgoingMessage) -> Looks:
        names = self._ties.names
        if message.persona_name is None or message.persona_id is None:
            return Looks(names.agent, message.persona_name or self._ties.relaying.agent_name)
        return Looks(names.persona(message.persona_id), message.persona_name, message.persona_avatar)

    async def _agents_content(self, message: OutgoingMessage) -> Content:
        if message.card is None:
            return await self._content(message.text, (), message.server)
        content = card_content(message, str, self._typing)
        content.pop("m.mentions", None)
        return content

    async def _content(self, text: str, extras: Sequence[str], server: ServerRef) -> Content:
        """Return a text as the content of an event, with people, roles and channels by their names."""
        forms = self._ties.mouth.names(server, text)

        def person(identifier: str) -> tuple[str, str] | None:
            if identifier.startswith("@"):
                return self._shown(identifier), identifier
            name = forms.get(f"<@{identifier}>") or forms.get(f"<@!{identifier}>")
            if identifier == self._ties.agent_id:
                return self._ties.relaying.agent_name, self._ties.names.agent
            return None if name is None else (name.removeprefix("@"), self._ties.names.person(identifier))

        return content_of(text, extras, forms, person)

    def _shown(self, user_id: str) -> str:
        from bridges.matrix.rules.room import shown_name

        room = next((room for room in self._ties.rooms.values() if user_id in room.members("join", "invite")), None)
        return user_id if room is None else shown_name(room, user_id)

    async def _file(self, attachment: Attachment, user: str) -> Content:
        """Return a file as the content of an event: uploaded within limits, else a note with a link."""
        bridge = self._ties.relaying.bridge(DISCORD)
        try:
            if bridge is None:
                raise FileRefused(f"{attachment.name}: nobody can read it")
            content = await bridge.fetch(attachment, self._ties.settings.file_limit * MEBIBYTE)
            return await self._upload(attachment.name, content, attachment.content_type, user)
        except (FileRefused, HomeserverRefused) as refused:
            note, name = one_line(str(refused)), one_line(attachment.name)
            body = f"📎 {name}: {attachment.url}" if attachment.url.startswith("https://") else f"📎 {note}"
            return {"msgtype": "m.text", "body": body}

    async def _upload(self, name: str, content: bytes, content_type: str, user: str) -> Content:
        address = await self._ties.home.upload(name, content, content_type, user)
        return file_content(name, content_type, len(content), address)

    async def _say(self, saying: _Saying, link: Link, *, is_doubtful: bool) -> None:
        rows, room = self._ties.rows, link.room_id
        pairs = await rows.of_message(saying.message_id, room)
        if any(pair.is_gone for pair in pairs):
            return
        known = {pair.part for pair in pairs}
        account: int | None = None
        if saying.author is not None:
            account = await self._ties.relaying.account_of(saying.server, saying.channel, saying.author)
        answered = await self._answered(saying.answers, link)
        thread = await self._thread(saying, link)
        for part, content in enumerate(saying.contents):
            if part in known:
                continue
            first = part == 0
            answers = answered.event_id if first and answered is not None else None
            pinged = answered.author.external_id if answers and answered is not None and answered.author else None
            pinged = pinged if pinged is not None and pinged.startswith("@") else None
            whole = {**content, "m.mentions": mentions_of(saying.mentions, pinged) if first else {}}
            if (relates := relation(thread, answers)) is not None:
                whole["m.relates_to"] = relates
            key = f"{saying.message_id}-{part}"
            found = await self._ties.home.find(room, key, saying.looks.user_id) if is_doubtful else None
            event_id = found or await self._send(link, whole, key, saying.looks)
            pair = Pair(
                DISCORD,
                room,
                event_id,
                channel=saying.channel.external_id,
                message_id=saying.message_id,
                part=part,
                voice=saying.looks.user_id,
            )
            await rows.add(pair, account_id=account)

    async def _send(self, link: Link, content: Content, key: str, looks: Looks) -> str:
        """Send an event; a user who was removed from the room is let in again, once."""
        try:
            return await self._ties.home.send(link.room_id, content, key, looks.user_id)
        except HomeserverRefused as refused:
            if refused.status != _FORBIDDEN or looks.user_id == self._ties.names.agent:
                raise
            self._users.left(link.room_id, looks.user_id)
            await self._users.present(link.room_id, looks)
            return await self._ties.home.send(link.room_id, content, key, looks.user_id)

    async def _answered(self, message_id: str | None, link: Link) -> Pair | None:
        if message_id is None:
            return None
        pairs = await self._ties.rows.of_message(message_id, link.room_id)
        return next((pair for pair in pairs if not pair.is_gone), None)

    async def _thread(self, saying: _Saying, link: Link) -> str:
        """Return the event that begins the thread in which something is said; empty in the channel itself.

        A thread has the id of the message that it hangs below. One that hangs below none is begun by a note.
        """
        channel = saying.channel
        if channel.external_id == link.channel:
            return ""
        pairs = await self._ties.rows.of_message(channel.external_id, link.room_id)
        if pairs:
            return pairs[0].event_id
        name = f"🧵 {one_line(channel.name)}"
        content = {"msgtype": "m.notice", "body": name, "m.mentions": {}}
        user = self._ties.names.agent
        event_id = await self._ties.home.send(link.room_id, content, f"thread-{channel.external_id}", user)
        thread = channel.external_id
        pair = Pair(DISCORD, link.room_id, event_id, channel=thread, message_id=thread, part=0, voice=user)
        await self._ties.rows.add(pair)
        return event_id

    # What becomes of it ---------------------------------------------------------------------------------------

    async def _edit(self, message_id: str, content: Content, key: str, link: Link) -> None:
        """Give what stands for a message another text, as the user who said it."""
        pairs = await self._ties.rows.of_message(message_id, link.room_id)
        pair = next((each for each in pairs if each.part == 0 and each.side == DISCORD and not each.is_gone), None)
        if pair is None or pair.voice is None:
            return
        await self._ties.home.send(
            link.room_id, edit_of({**content, "m.mentions": {}}, pair.event_id), f"edit-{key}", pair.voice
        )

    async def _deleted(self, message_id: str, link: Link) -> None:
        """Redact what stands for a deleted message, whoever said it; what may not be redacted stays."""
        pairs = [each for each in await self._ties.rows.of_message(message_id, link.room_id) if not each.is_gone]
        for event_id, voice in dict.fromkeys((pair.event_id, pair.voice) for pair in pairs):
            try:
                await self._ties.home.redact(link.room_id, event_id, f"gone-{event_id}", voice)
            except HomeserverRefused as refused:
                log.info("deletion_not_carried", event_id=event_id, reason=str(refused))
        await self._ties.rows.gone(pairs)

    async def _reacted(self, event: ReactionAdded, link: Link) -> None:
        pair = await self._answered(event.message_id, link)
        if pair is None or event.author.kind is not ParticipantKind.DISCORD_USER:
            return
        looks = self._looks_of(event.author)
        await self._users.present(link.room_id, looks)
        emoji = event.emoji if not event.emoji.isalnum() else f":{event.emoji}:"
        relates = {"rel_type": "m.annotation", "event_id": pair.event_id, "key": emoji}
        try:
            await self._ties.home.send(
                link.room_id, {"m.relates_to": relates}, f"{event.event_id}", looks.user_id, "m.reaction"
            )
        except HomeserverRefused as refused:  # the same one twice is refused
            log.debug("reaction_not_carried", reason=str(refused))
