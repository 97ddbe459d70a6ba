"""An edited message: what waits, is being answered or mentions the agent only now is answered as it stands now."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from agent import logs, metrics
from agent.events import MessageCreated
from agent.identity.keys import ParticipantKind
from agent.text import clean, clip
from agent.tools import TurnLost
from agent.turn.values import Outcome

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from agent.bridge import Bridge
    from agent.clock import Clock
    from agent.events import MessageEdited
    from agent.sender import Sender
    from agent.store.inbound import Inbound
    from agent.store.outbox import OutboxRows
    from agent.turn.job import Job
    from agent.turn.queue import ConversationQueue

log = logs.get_logger(__name__)

LATELY: Final = timedelta(minutes=2)
"""How long after its answer an edit of the question changes it, and how long a mention may be added."""
MOST: Final = 3
"""Times that one answer is begun anew; somebody who goes on editing gets the answer to what stood there then."""


@dataclass(frozen=True, slots=True)
class Corrections:
    """Takes edits, in order with the other events of their conversation."""

    inbound: Inbound
    outbox: OutboxRows
    sender: Sender
    queue: ConversationQueue[Job]
    clock: Clock
    bridges: Mapping[str, Bridge]
    limit: int
    """Characters of a message that are kept."""

    async def take(self, event: MessageEdited, conversation: str) -> MessageCreated | None:
        """Take an edit; return the message when it was answered already and is to be answered again, in place.

        It is returned as well when it was passed over, and mentions the agent only now.

        A turn that has taken effect (a memory was saved) goes on with the text that it began with, and its answer
        stands.
        """
        event = replace(event, text=clip(clean(event.text), self.limit))

        def is_meant(job: Job) -> bool:
            return job.event.message_id == event.message_id

        running = self.queue.running(conversation)
        if running is None or not is_meant(running):
            if (mended := await self.inbound.receive_edit(event, conversation)) is None:
                return await self._answered(event, conversation)
            await self._mend_waiting(mended, conversation)
            await self._mend_begun(mended, event, conversation)
        elif await self._goes_on(running, event):
            await self.inbound.receive(event, conversation, wanted=False)
        elif (halted := await self.queue.halt(conversation, is_meant)) is not None:
            await self._begin_anew(halted, conversation, lambda: self.inbound.receive_edit(event, conversation))
        return None

    async def _answered(self, event: MessageEdited, conversation: str) -> MessageCreated | None:
        """Return a message that was answered lately as it stands now; its answer is given another text.

        Also one that was passed over, and mentions the agent only now.
        """
        bridge = self.bridges.get(event.platform)
        if bridge is None or not event.text.strip() or event.author.is_bot:
            return None
        answered = await self.inbound.answered(event, conversation, self.clock.now() - LATELY)
        if answered is None:
            if not await self._is_addressed_now(event, conversation):
                return None
        elif answered[1] > MOST or not bridge.capabilities.edits:
            return None
        return MessageCreated(
            platform=event.platform,
            event_id=f"{event.event_id}:again",
            message_id=event.message_id,
            server=event.server,
            channel=event.channel,
            author=event.author,
            text=event.text,
            occurred_at=event.occurred_at,
            mentions_agent=True,  # it is addressed to the agent, or was when it was answered
            reply=event.reply,
            attachments=event.attachments,
            extras=event.extras,
            corrects=None if answered is None else answered[0],
        )

    async def _is_addressed_now(self, event: MessageEdited, conversation: str) -> bool:
        """Tell whether somebody has added the mention that they had forgotten a moment ago."""
        if not event.mentions_agent or event.said_at is None or event.author.kind is ParticipantKind.WEBHOOK:
            return False
        is_recent = self.clock.now() - event.said_at <= LATELY
        return is_recent and await self.inbound.was_passed_over(event, conversation)

    async def _goes_on(self, running: Job, event: MessageEdited) -> bool:
        """Tell whether a turn goes on although its message was edited."""
        if running.event.text == event.text or running.corrections >= MOST:
            return True
        return await self.inbound.load_checkpoint(running.event) is not None

    async def _mend_begun(self, mended: MessageCreated, event: MessageEdited, conversation: str) -> None:
        """Begin a turn anew that began, with the old text, while its edit was written down."""

        def is_meant(job: Job) -> bool:
            return job.event.message_id == event.message_id

        async def still() -> MessageCreated | None:
            return mended if await self.inbound.load_checkpoint(mended) is None else None

        begun = self.queue.running(conversation)
        if begun is None or not is_meant(begun) or await self._goes_on(begun, event):
            return
        if (halted := await self.queue.halt(conversation, is_meant)) is not None:
            await self._begin_anew(halted, conversation, still)

    async def _begin_anew(
        self, halted: Job, conversation: str, mend: Callable[[], Awaitable[MessageCreated | None]]
    ) -> None:
        again: Job | None = halted
        try:
            if (mended := await mend()) is not None:
                metrics.emit("turns_corrected")
                again = replace(halted, event=mended, corrections=halted.corrections + 1)
                if _is_blank(mended):
                    again = None
                    await self.inbound.finish(mended, Outcome.IGNORED)
            # It may have been stopped between the commit of what it says and its sending.
            self.sender.post(await self.outbox.unsent(halted.event.platform, halted.event.event_id))
        finally:
            self.queue.resume(conversation, again)

    async def _mend_waiting(self, mended: MessageCreated, conversation: str) -> None:
        """Put the new text in the place of what waits; where nothing is left of it there is nothing to answer."""

        def is_meant(job: Job) -> bool:
            return job.event.event_id == mended.event_id

        if not _is_blank(mended):
            self.queue.change(conversation, is_meant, lambda job: replace(job, event=mended))
            return
        for _ in self.queue.remove(conversation, is_meant):
            try:
                await self.inbound.finish(mended, Outcome.IGNORED)
            except TurnLost:
                log.debug("event_ended_elsewhere", event_id=mended.event_id)


def _is_blank(event: MessageCreated) -> bool:
    return not event.text.strip() and not event.attachments and not event.extras
