"""What becomes of what was said in a room: edits, redactions and reactions, carried to the channel."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from agent import logs
from agent.bridge import SendFailed
from agent.events import MessageDeleted, MessageEdited
from agent.relaying.hearing import OWN
from bridges.matrix.rules.relations import age, bundled_edit, is_valid_edit, redacted_by, relation_of
from bridges.matrix.rules.relations import is_redacted as was_redacted
from bridges.matrix.rules.values import Json, table, text, whole
from bridges.relay.repository import DISCORD, MATRIX, REACTION, Pair
from bridges.relay.ties import KeptEarly, Later, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridges.relay.repository import Link, Waiting
    from bridges.relay.ties import Ties
    from bridges.relay.voicing import Saying, Voicing

log = logs.get_logger(__name__)

_LONGEST: Final = 32
"""Characters of an emoji, with everything that is joined to it."""


class Changes:
    """Carries what becomes of messages."""

    def __init__(self, ties: Ties, voicing: Voicing) -> None:
        self._ties = ties
        self._voicing = voicing

    async def edited(self, edit: Json, link: Link, waiting: Waiting) -> None:
        """Carry an edit, if it counts: one by somebody else, or older than another one, does not."""
        target = relation_of(edit).replaces
        pairs = [each for each in await self._ties.rows.of_event(target, link.room_id) if each.side == MATRIX]
        original = await self._ties.home.event(link.room_id, target)
        if not pairs:
            if original is None or not was_redacted(original):
                await self._ties.rows.set_early(waiting.number)
                raise KeptEarly
            return
        if original is None or not is_valid_edit(edit, original) or all(pair.is_gone for pair in pairs):
            return
        latest = bundled_edit(original)
        if latest is not None and is_valid_edit(latest, original) and age(latest) > age(edit):
            return
        content = table(table(edit.get("content")).get("m.new_content"))
        saying = await self._voicing.saying(original, content, link)
        await self._change(saying, pairs, link)
        await self._ties.host.receive(
            MessageEdited(
                DISCORD,
                f"{OWN}{edit['event_id']}",
                pairs[0].message_id,
                saying.server,
                saying.channel,
                saying.author,
                saying.carried.text,
                datetime.fromtimestamp(whole(edit.get("origin_server_ts")) / 1000, UTC),
            )
        )

    async def _change(self, saying: Saying, pairs: Sequence[Pair], link: Link) -> None:
        """Give each part its new text; parts that are too many go, more are posted behind."""
        words = await self._voicing.words(saying, with_files=False)
        mouth, account = self._ties.mouth, None
        for pair, each in zip(pairs, words, strict=False):
            try:
                await mouth.change(pair.message_id, each)
            except SendFailed as failure:
                if failure.retry_after is not None:
                    raise Later(failure.reason, failure.retry_after) from None
                log.info("edit_not_carried", message_id=pair.message_id, reason=failure.reason)
        surplus = () if saying.carried.attachments else pairs[len(words) :]
        await self._retract(surplus)
        for part, each in enumerate(words[len(pairs) :], start=len(pairs)):
            account = account or await self._ties.relaying.account_of(saying.server, saying.channel, saying.author)
            voiced = await self._voicing.speak(each, datetime.now(UTC), is_doubtful=False)
            event_id, channel = text(saying.event["event_id"]), saying.channel.external_id
            await self._ties.rows.add(
                Pair(MATRIX, link.room_id, event_id, channel=channel, message_id=voiced.message_id, part=part),
                webhook_id=voiced.webhook_id,
                account_id=account,
            )

    async def redacted(self, event: Json, link: Link) -> None:
        """Delete what stands for a redacted event; a redaction that comes first is found when its message comes."""
        target = redacted_by(event)
        if (reaction := await self._ties.rows.reaction(target, link.room_id)) is not None:
            await self._unreact(reaction, link)
            return
        pairs = [each for each in await self._ties.rows.of_event(target, link.room_id) if not each.is_gone]
        original = await self._ties.home.event(link.room_id, target) if pairs else None
        if not pairs or (original is not None and not was_redacted(original)):
            return  # the homeserver decides who may redact what
        place = await self._ties.mouth.where(pairs[0].channel) or await self._ties.mouth.where(link.channel)
        await self._retract(pairs)
        if place is None:
            return
        for message_id in dict.fromkeys(pair.message_id for pair in pairs[:1]):
            gone = MessageDeleted(DISCORD, f"{OWN}{event['event_id']}", message_id, *place, datetime.now(UTC))
            await self._ties.host.receive(gone)

    async def _retract(self, pairs: Sequence[Pair]) -> None:
        """Delete messages; what the agent may not delete stays."""
        for channel, message_id in dict.fromkeys((pair.channel, pair.message_id) for pair in pairs):
            place = await self._ties.mouth.where(channel)
            if place is None:
                continue
            try:
                await self._ties.mouth.retract(place[1], message_id)
            except SendFailed as failure:
                if failure.retry_after is not None:
                    raise Later(failure.reason, failure.retry_after) from None
                log.info("deletion_not_carried", message_id=message_id, reason=failure.reason)
        await self._ties.rows.gone(pairs)

    async def reacted(self, event: Json, link: Link) -> None:
        """Show a reaction as the agent's own, which stands for all of that kind from rooms."""
        relation = relation_of(event)
        pairs = await self._ties.rows.of_event(relation.reacts_to, link.room_id)
        emoji = relation.reaction.strip()
        if not pairs or pairs[0].is_gone or not emoji or len(emoji) > _LONGEST or emoji.isalnum():
            return
        place = await self._ties.mouth.where(pairs[0].channel)
        if place is None:
            return
        try:
            await self._ties.mouth.react(place[1], pairs[0].message_id, emoji, on=True)
        except SendFailed as failure:
            raise Refused(failure.reason) from None
        made = replace(pairs[0], side=MATRIX, event_id=text(event["event_id"]), part=REACTION, voice=emoji, number=0)
        await self._ties.rows.add(made)

    async def _unreact(self, reaction: Pair, link: Link) -> None:
        rest = await self._ties.rows.reactions(reaction.message_id, link.room_id)
        place = await self._ties.mouth.where(reaction.channel)
        await self._ties.rows.gone([reaction])
        if place is None or any(each.voice == reaction.voice and each.number != reaction.number for each in rest):
            return
        try:
            await self._ties.mouth.react(place[1], reaction.message_id, reaction.voice or "", on=False)
        except SendFailed as failure:
            raise Refused(failure.reason) from None
