"""From a room to a channel: what people say there is posted for them, and taken by the core as said in the channel."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from agent.events import MessageCreated, Reply
from agent.relaying.hearing import OWN
from bridges.matrix.rules.relations import SAID, age, is_valid_edit, relation_of
from bridges.matrix.rules.values import Json, table, text, whole
from bridges.relay.intake import ANNOTATION, REDACTION
from bridges.relay.repository import DISCORD, MATRIX, Pair
from bridges.relay.to_discord_changes import Changes
from bridges.relay.voicing import Voicing

if TYPE_CHECKING:
    from bridges.relay.repository import Link, Waiting
    from bridges.relay.ties import Ties
    from bridges.relay.voicing import Saying


class ToDiscord:
    """Carries what happens in rooms."""

    def __init__(self, ties: Ties) -> None:
        self._ties = ties
        self._voicing = Voicing(ties)
        self._changes = Changes(ties, self._voicing)

    async def carry(self, waiting: Waiting, link: Link, is_doubtful: bool) -> None:  # noqa: FBT001 - the lanes' form
        """Carry one event of a room."""
        event: Json = json.loads(waiting.payload)
        if waiting.kind == REDACTION:
            await self._changes.redacted(event, link)
        elif waiting.kind == ANNOTATION:
            await self._changes.reacted(event, link)
        elif waiting.kind in SAID:
            if relation_of(event).replaces:
                await self._changes.edited(event, link, waiting)
            else:
                await self._said(event, link, waiting, is_doubtful=is_doubtful)

    async def _said(self, event: Json, link: Link, waiting: Waiting, *, is_doubtful: bool) -> None:
        content = await self._as_it_stands(event, waiting)
        if content is None:
            return
        saying = await self._voicing.saying(event, content, link)
        if not saying.carried.shown.strip() and not saying.carried.attachments and not saying.carried.extras:
            return
        account = await self._ties.relaying.account_of(saying.server, saying.channel, saying.author)
        known = {pair.part: pair for pair in await self._ties.rows.of_event(text(event["event_id"]), link.room_id)}
        first: str | None = None
        files: list[Any] = []
        for part, words in enumerate(await self._voicing.words(saying)):
            if part in known:
                first = first or known[part].message_id
                continue
            voiced = await self._voicing.speak(words, waiting.received_at, is_doubtful=is_doubtful)
            files += voiced.files
            await self._ties.rows.add(
                Pair(
                    MATRIX,
                    link.room_id,
                    text(event["event_id"]),
                    channel=saying.channel.external_id,
                    message_id=voiced.message_id,
                    part=part,
                ),
                webhook_id=voiced.webhook_id,
                account_id=account,
            )
            first = first or voiced.message_id
        if first is not None:
            await self._ties.host.receive(await self._created(saying, first, tuple(files)))

    async def _as_it_stands(self, event: Json, waiting: Waiting) -> Json | None:
        """Return what a message holds by now: None when its redaction came first, else with the newest early edit."""
        best: Json | None = None
        for early in await self._ties.rows.about(MATRIX, waiting.room_id, waiting.event_id):
            if early.kind == REDACTION:
                return None
            if early.payload is None:
                continue
            edit: Json = json.loads(early.payload)
            if is_valid_edit(edit, event) and (best is None or age(edit) > age(best)):
                best = edit
            await self._ties.rows.settle(early.number)
        return table(event.get("content")) if best is None else table(table(best.get("content")).get("m.new_content"))

    async def _created(self, saying: Saying, message_id: str, files: tuple[Any, ...]) -> MessageCreated:
        said = saying.carried
        return MessageCreated(
            platform=DISCORD,
            event_id=f"{OWN}{saying.event['event_id']}",
            message_id=message_id,
            server=saying.server,
            channel=saying.channel,
            author=saying.author,
            text=said.text,
            occurred_at=datetime.fromtimestamp(whole(saying.event.get("origin_server_ts")) / 1000, UTC),
            mentions_agent=said.mentions_agent,
            mentions=said.mentions,
            reply=await self._reply(saying),
            attachments=files,
            extras=said.extras,
        )

    async def _reply(self, saying: Saying) -> Reply | None:
        answered = saying.answered
        if answered is None:
            return None
        own = await self._ties.host.own_messages(DISCORD, [answered.message_id])
        said = saying.quote.partition(": ")[2]
        return Reply(
            answered.message_id, answered.message_id in own, own.get(answered.message_id), answered.author, said
        )
