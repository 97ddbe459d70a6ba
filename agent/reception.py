"""From a platform's event to a queued turn: taken once, who said it, is a reply due."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

from agent import logs, metrics
from agent.contracts.people import Speaker
from agent.events import MessageCreated, MessageDeleted, MessageEdited
from agent.hookspecs import Attested, Hold, Unavailable
from agent.models import usage_counters
from agent.places import conversation_key
from agent.seen_channels import SeenChannels
from agent.store.errors import StoreError
from agent.text import clean, clip, one_line
from agent.tools import TurnLost
from agent.turn.admission import Addressing, Admitted, Cooldowns, Declined, Quotas, Reason, decide
from agent.turn.job import Job
from agent.turn.refusals import Refusals, refusal_message
from agent.turn.values import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from agent.background import Background
    from agent.bridge import OutgoingMessage
    from agent.core import Core
    from agent.corrections import Corrections
    from agent.events import Event
    from agent.hookspecs import SpeakerAnswer
    from agent.identity.people import Entrance
    from agent.sender import Sender
    from agent.store.inbound import Inbound, Unfinished
    from agent.turn.queue import ConversationQueue
    from agent.withdrawals import Withdrawals

log = logs.get_logger(__name__)

PATIENCE: Final = 30.0
"""Seconds that an event waits for a database that is away, before the bridge is told that it was not taken."""
LONGEST_HOLD: Final = timedelta(seconds=30)
NAME_LIMIT: Final = 200


def cleaned(event: MessageCreated, limit: int) -> MessageCreated:
    """Return the event as the rest of the agent may see it: text and names that every part can carry, in bounds."""
    author = replace(
        event.author,
        display_name=clip(one_line(clean(event.author.display_name)), NAME_LIMIT),
        username=None if event.author.username is None else clip(one_line(clean(event.author.username)), NAME_LIMIT),
    )
    return replace(event, author=author, text=clip(clean(event.text), limit))


@dataclass(frozen=True, slots=True)
class Said:
    """A message whose speaker is known."""

    event: MessageCreated
    """As it is to be taken: of a proxied one the author is the account that answers for it."""
    entrance: Entrance
    speaker: Speaker


def _nameless(event: MessageCreated) -> MessageCreated:
    """Return a webhook's message without the name that it bears this time: many post through one webhook."""
    return replace(event, author=replace(event.author, display_name=""))


def _job(said: Said, decision: Admitted) -> Job:
    return Job(said.event, said.entrance.place, said.entrance.account, said.speaker, decision.persona, decision.why)


@dataclass(slots=True)
class Reception:
    """Takes events in, in order within a conversation."""

    core: Core
    inbound: Inbound
    queue: ConversationQueue[Job]
    background: Background
    sender: Sender
    refusals: Refusals
    cooldowns: Cooldowns
    quotas: Quotas
    addressing: Addressing
    corrections: Corrections
    withdrawals: Withdrawals
    seen: SeenChannels = field(default_factory=SeenChannels)
    order: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)
    """One lock for each conversation whose events are being taken."""

    async def receive(self, event: Event) -> None:
        """Take an event; returns when its row is committed.

        Raises:
            StoreError: the database stayed away; the event was not taken, and the bridge should bring it again.
        """
        conversation = conversation_key(event.platform, event.channel)
        lock = self.order.setdefault(conversation, asyncio.Lock())
        async with lock:
            tries = count()
            await self.core.store.retrying(
                lambda: self._take(event, conversation, again=next(tries) > 0), patience=PATIENCE
            )

    async def resume(self, event: Unfinished, *, is_held: bool = False) -> None:
        """Go on with an event that was taken before this process began, or that was held by it."""
        if isinstance(event, MessageDeleted):
            self.background.start(self.withdrawals.tell(event))
            return
        said = await self._said(event)
        if isinstance(said, Hold):
            self._hold(event, said)
            return
        if said is None or isinstance(decision := await self._decide(said.event, said.entrance), Declined):
            await self._end(event, Outcome.IGNORED)
            return
        if said.event is not event:
            await self.inbound.restate(said.event)
        if is_held:
            await self._admit(said, decision)
        else:  # what limits turns was asked before the restart
            self._enqueue(_job(said, decision))

    async def _take(self, event: Event, conversation: str, *, again: bool) -> None:
        """Take an event; `again` after a try whose connection was lost, and which may have committed its arrival."""
        if not isinstance(event, MessageCreated):
            await self._take_other(event, conversation, again=again)
            return
        event = cleaned(event, self.core.settings.limits.max_message_chars)
        metrics.emit("messages_in", platform=event.platform)
        if event.author.is_bot and not self.core.hooks.implements("resolve_speaker"):
            await self.inbound.receive(event, conversation, wanted=False)
            return
        said = await self._said(event)
        if isinstance(said, Hold):
            if await self._is_new(event, conversation, again=again, held_until=said.until):
                self._hold(event, said)
            return
        if said is None or isinstance(decision := await self._decide(said.event, said.entrance), Declined):
            await self.inbound.receive(event, conversation, wanted=False)
            return
        if await self._is_new(said.event, conversation, again=again):
            await self._admit(said, decision)

    async def _is_new(
        self, event: Event, conversation: str, *, again: bool, held_until: datetime | None = None
    ) -> bool:
        """Commit the arrival of an event that is wanted; tell whether somebody must deal with it now."""
        if await self.inbound.receive(event, conversation, wanted=True, held_until=held_until):
            return True
        return again and await self.inbound.waits(event)

    async def _take_other(self, event: Event, conversation: str, *, again: bool) -> None:
        """Take what is no message: what is deleted while it waits is not answered, what is edited as it stands now."""
        if isinstance(event, MessageEdited):
            if (corrected := await self.corrections.take(event, conversation)) is not None:
                await self._take(corrected, conversation, again=again)
            return
        if not isinstance(event, MessageDeleted):
            await self.inbound.receive(event, conversation, wanted=False)
            return
        is_new = await self.inbound.receive_deletion(event, conversation)
        if is_new or (again and await self.inbound.waits(event)):
            self.queue.remove(conversation, lambda job: job.event.message_id == event.message_id)
            self.background.start(self.withdrawals.tell(event))

    async def _enter(self, event: MessageCreated) -> Entrance:
        entrance = await self.core.people.enter(event.server, event.channel, event.author, self.core.clock.now())
        if self.seen.is_news(entrance.place):
            self.background.start(self.core.hooks.collect("channel_seen", place=entrance.place))
        if entrance.is_new:
            self.background.start(self.core.hooks.collect("person_registered", account=entrance.account))
        return entrance

    async def _said(self, event: MessageCreated) -> Said | Hold | None:
        """Return who said it, or what to wait for; None when it cannot be known: then nobody is answered."""
        entrance = await self._enter(event if event.webhook_id is None else _nameless(event))
        account = entrance.account
        answer: SpeakerAnswer | None = await self.core.hooks.first("resolve_speaker", event=event, account=account)
        match answer:
            case Attested(speaker=speaker, event=None):
                return Said(event, entrance, speaker)
            case Attested(speaker=speaker, event=MessageCreated() as said):
                return Said(said, await self._enter(said), speaker)
            case Hold():
                return answer
            case Unavailable():
                return None
            case _:
                if event.webhook_id is not None:
                    return None
                return Said(event, entrance, Speaker(account.key, account.user_id, account.display_name))

    async def _decide(self, event: MessageCreated, entrance: Entrance) -> Admitted | Declined:
        server_id = entrance.place.server.server_id
        personas = await self.core.personas.for_server(server_id, entrance.revision)
        reply = event.reply
        if reply is not None and reply.to_agent and reply.persona_id is None and len(personas) > 1:
            speaker = await self.core.personas.of_message(event.platform, reply.message_id, server_id)
            event = replace(event, reply=replace(reply, persona_id=speaker))
        return decide(event, entrance.place, entrance.account, personas, self.addressing)

    async def _admit(self, said: Said, decision: Admitted) -> None:
        """Queue an admitted message, unless the account or the server has had enough for now."""
        job = _job(said, decision)
        is_again, account_id, now = said.event.corrects is not None, job.account.account_id, self.core.clock.now()
        if not is_again and not self.cooldowns.admits(account_id, now):
            await self._refuse(job, Reason.COOLDOWN)
        elif await self._is_spent(job):
            await self._refuse(job, Reason.SPENT)
        elif not is_again and not self.quotas.admits(account_id, now):
            await self._refuse(job, Reason.QUOTA)
        else:
            self._enqueue(job)

    async def _is_spent(self, job: Job) -> bool:
        """Tell whether the server has used up what it may cost today."""
        cap = self.core.settings.limits.daily_spend
        if cap is None:
            return False
        async with self.core.store.connection() as conn:
            spent = await usage_counters.spent(conn, job.place.server.server_id, self.core.clock.now())
        return spent >= round(cap * 1_000_000)

    def _enqueue(self, job: Job) -> None:
        if self.queue.is_closed:
            return  # the row stays, so that the next start goes on with it
        if not self.queue.put(conversation_key(job.event.platform, job.event.channel), job):
            self.background.start(self._refuse(job, Reason.QUEUE_FULL))

    async def _refuse(self, job: Job, reason: Reason) -> None:
        """End an admitted message without an answer, and say so calmly, once in a while."""
        metrics.emit("turns_refused", reason=reason)
        text = self.refusals.sentence(reason, job, self.core.clock.now())
        await self._end(job.event, Outcome.IGNORED, () if text is None else (refusal_message(job, text),))

    async def _end(self, event: MessageCreated, outcome: Outcome, notice: Sequence[OutgoingMessage] = ()) -> None:
        try:
            self.sender.post(await self.inbound.finish(event, outcome, notice))
        except TurnLost:
            log.debug("event_ended_elsewhere", event_id=event.event_id)

    def _hold(self, event: MessageCreated, hold: Hold) -> None:
        """Ask again when the hold is over; what comes in between makes the plugin answer otherwise."""
        now = self.core.clock.now()
        seconds = (min(hold.until, now + LONGEST_HOLD) - now).total_seconds()
        self.background.start(self._after(event, max(seconds, 0.0)))

    async def _after(self, event: MessageCreated, seconds: float) -> None:
        await self.core.holds.wait(event.platform, event.event_id, seconds)
        try:
            await self.core.store.retrying(lambda: self._go_on(event), patience=PATIENCE)
        except StoreError as error:
            log.warning("held_event_not_resumed", reason=str(error))

    async def _go_on(self, event: MessageCreated) -> None:
        """Resume a held message as it is by now, if nothing has ended it."""
        if (found := await self.inbound.held(event)) is not None:
            await self.resume(found, is_held=True)
