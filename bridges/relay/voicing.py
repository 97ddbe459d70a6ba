"""What somebody says in a room on its way to a channel: where, as whom, in which words, and posted once."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from agent.bridge import OutcomeUnknown, SendFailed
from agent.events import Author
from agent.files import MEBIBYTE, FileRefused, ReplyFile
from agent.identity.keys import ParticipantKind
from agent.relaying.mouthpiece import Guise, Voiced, Words
from agent.text import clip, one_line
from agent.turn.split import split
from bridges.matrix.rules.content import labelled, profile_name
from bridges.matrix.rules.relations import bundled_edit, is_redacted, is_valid_edit, relation_of
from bridges.matrix.rules.room import Room, shown_name
from bridges.matrix.rules.values import Json, table, text
from bridges.relay.repository import MATRIX
from bridges.relay.ties import Later, Refused
from bridges.relay.to_discord_text import Carried, carried, guise_name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from agent.places import ChannelRef, ServerRef
    from bridges.relay.repository import Link, Pair
    from bridges.relay.ties import Ties

_QUOTE: Final = 80
_SETTLE: Final = 0.5
"""Seconds after which a message whose answer was lost is looked for."""
_MOST: Final = 10_000


@dataclass(frozen=True, slots=True)
class Saying:
    """One message of a room on its way."""

    event: Json
    content: Json
    """For an edit the new one."""
    server: ServerRef
    channel: ChannelRef
    author: Author
    guise: Guise
    carried: Carried
    answered: Pair | None
    quote: str


class Voicing:
    """Prepares and posts what people of rooms say."""

    def __init__(self, ties: Ties) -> None:
        self._ties = ties
        self._apart: dict[tuple[str, str, str], bool] = {}
        """Whether somebody's name is borne by somebody else there, as it was found first."""

    async def saying(self, event: Json, content: Json, link: Link) -> Saying:
        """Return a message of a room, for an edit with its new content."""
        ties = self._ties
        room, sender = ties.rooms[link.room_id], text(event["sender"])
        relation = relation_of(event)
        server, channel, answered_id = await self._where(link, relation.thread, relation.answers)
        name = labelled(shown_name(room, sender), profile_name(table(event.get("content"))), sender)
        author = Author(ParticipantKind.MATRIX_USER, sender, name, sender, platform=MATRIX)
        said = carried(
            text(event["type"]),
            content,
            ties.names,
            lambda user_id: shown_name(room, user_id),
            name,
            is_reply=bool(relation.answers),
            agent_id=ties.agent_id,
        )
        answered, quote = await self._answered(answered_id, link, room)
        is_apart = await self._is_apart(server, channel, author)
        guise = Guise(guise_name(name, sender, is_apart=is_apart), self._avatar(room, sender))
        return Saying(event, content, server, channel, author, guise, said, answered, quote)

    async def _where(self, link: Link, thread: str, answers: str) -> tuple[ServerRef, ChannelRef, str]:
        """Return where something is said on the other side, and which event it answers.

        What is said in a thread whose first message has a thread there as well goes into that one; otherwise it answers
        the first message.
        """
        mouth = self._ties.mouth
        if thread:
            for pair in await self._ties.rows.of_event(thread, link.room_id):
                if (found := await mouth.where(pair.message_id)) is not None:
                    return *found, answers
        place = await mouth.where(link.channel)
        if place is None:
            raise Later("the channel is not known")
        return *place, answers or thread

    async def _answered(self, event_id: str, link: Link, room: Room) -> tuple[Pair | None, str]:
        """Return what stands for an event that is answered, and a quotation of it."""
        if not event_id:
            return None, ""
        pairs = await self._ties.rows.of_event(event_id, link.room_id)
        event = await self._ties.home.event(link.room_id, event_id)
        if event is None or is_redacted(event):
            return next(iter(pairs), None), ""
        edit = bundled_edit(event)
        content = table(event.get("content"))
        if edit is not None and is_valid_edit(edit, event):
            content = table(table(edit.get("content")).get("m.new_content"))
        said = carried(
            text(event.get("type")), content, self._ties.names, lambda user: shown_name(room, user), "", is_reply=True,
            agent_id=self._ties.agent_id,
        )  # fmt: skip
        words = one_line(said.text) or ", ".join(file.name for file in said.attachments)
        name = shown_name(room, text(event.get("sender")))
        return next(iter(pairs), None), clip(f"{name}: {words}", _QUOTE)

    async def _is_apart(self, server: ServerRef, channel: ChannelRef, author: Author) -> bool:
        """Tell whether somebody else there has this name."""
        key = (server.external_id, author.external_id, author.display_name)
        if key not in self._apart:
            if len(self._apart) > _MOST:
                self._apart.clear()
            self._apart[key] = await self._ties.relaying.is_borne(server, channel, author)
        return self._apart[key]

    def _avatar(self, room: Room, sender: str) -> str | None:
        """Return where everybody can load somebody's picture, where the settings name a place for that."""
        template = self._ties.settings.avatar_address
        server, _, media = (
            text(room.content("m.room.member", sender).get("avatar_url")).removeprefix("mxc://").partition("/")
        )
        if not template or not server or not media.replace("-", "").replace("_", "").isalnum():
            return None
        return template.replace("{server}", server).replace("{media}", media)

    async def words(self, saying: Saying, *, with_files: bool = True) -> Sequence[Words]:
        """Return the messages that one is carried as: its texts, then its files."""
        mouth, said = self._ties.mouth, saying.carried
        shown = "\n".join(
            [*([said.shown] if said.shown.strip() else []), *(f"> {one_line(each)}" for each in said.extras)]
        )
        files: list[ReplyFile] = []
        for attachment in said.attachments if with_files else ():
            limit = min(self._ties.settings.file_limit * MEBIBYTE, mouth.file_limit)
            try:
                content = await self._ties.home.download(attachment.url, attachment.name, limit)
                files.append(ReplyFile(attachment.name, content, attachment.content_type))
            except FileRefused as refused:
                shown = f"{shown}\n📎 {one_line(str(refused))}".strip()
        base = Words(saying.server, saying.channel, saying.guise, "", said.pinged)
        parts = [replace(base, text=part) for part in split(shown, mouth.text_limit)]
        if files and len(parts) == 1:
            parts[0] = replace(parts[0], file=files.pop(0))
        parts += [replace(base, file=file) for file in files]
        if parts and saying.answered is not None:
            parts[0] = replace(parts[0], answers=saying.answered.message_id, quote=saying.quote)
        elif parts and saying.quote and not saying.carried.attachments:
            parts[0] = replace(parts[0], text=f"> {saying.quote}\n{parts[0].text}"[: mouth.text_limit])
        return parts

    async def speak(self, words: Words, since: datetime, *, is_doubtful: bool) -> Voiced:
        """Post one message, once: when it may stand there already it is looked for first."""
        mouth = self._ties.mouth
        if is_doubtful:
            known = await self._ties.rows.known_since(words.channel.external_id, since)
            if (found := await mouth.find_words(words, since, known)) is not None:
                return found
        try:
            outcome = await mouth.speak(words)
        except SendFailed as failure:
            if failure.retry_after is None:
                raise Refused(failure.reason) from None
            raise Later(failure.reason, max(failure.retry_after, 0.05)) from None
        if isinstance(outcome, OutcomeUnknown):
            await asyncio.sleep(_SETTLE)  # it may be on its way
            raise Later(outcome.reason, 0.0, is_doubtful=True)
        return outcome
