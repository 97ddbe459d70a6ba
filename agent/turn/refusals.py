"""What is said, calmly and not each time, when a message that was addressed to the agent is not answered."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from agent.bridge import OutgoingMessage
from agent.catalog import translate
from agent.contracts.cards import Card, CardKind
from agent.turn.admission import Reason

if TYPE_CHECKING:
    from agent.turn.job import Job

AGAIN_AFTER: Final = {
    Reason.COOLDOWN: timedelta(minutes=1),
    Reason.QUEUE_FULL: timedelta(minutes=1),
    Reason.QUOTA: timedelta(hours=6),
    Reason.SPENT: timedelta(hours=6),
}
"""How long the same sentence is not said again to the same account or server."""
MOST_KEPT: Final = 4096


class Refusals:
    """Remembers what was said lately."""

    def __init__(self, locale: str) -> None:
        self._locale = locale
        self._silent_until: dict[tuple[Reason, int], datetime] = {}

    def sentence(self, reason: Reason, job: Job, now: datetime) -> str | None:
        """Return what to say; None for what is said never or was said lately."""
        pause = AGAIN_AFTER.get(reason)
        if pause is None:
            return None
        about = job.account.account_id if reason in {Reason.COOLDOWN, Reason.QUOTA} else job.place.channel.channel_id
        if now < self._silent_until.get((reason, about), now):
            return None
        if len(self._silent_until) >= MOST_KEPT:
            self._silent_until = {key: until for key, until in self._silent_until.items() if until > now}
        self._silent_until[reason, about] = now + pause
        return self._text(reason)

    def _text(self, reason: Reason) -> str:
        match reason:
            case Reason.COOLDOWN:
                return translate(self._locale, "One at a time, please: I answer you again in a moment.")
            case Reason.QUOTA:
                return translate(self._locale, "That is as much as I answer one person in a day. I am back tomorrow.")
            case Reason.SPENT:
                return translate(self._locale, "This server has used up what it may cost today. I am back tomorrow.")
            case _:
                return translate(self._locale, "Too much waits for me here. Please ask again in a minute.")


def refusal_message(job: Job, text: str) -> OutgoingMessage:
    """Return the notice that says it, in answer to the message."""
    event = job.event
    return OutgoingMessage(
        key=f"{event.platform}:{event.event_id}:refusal",
        platform=event.platform,
        channel=job.place.channel.ref,
        server=job.place.server.ref,
        text=text,
        reply_to=event.message_id,
        card=Card(CardKind.INFO, text),
        event_id=event.event_id,
        asker=job.account.key,
    )
