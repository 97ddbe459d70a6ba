"""Is a reply due? Pure rules over what is known when a message arrives (architecture.md, One message)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from agent.contracts.people import PrivacyLevel
from agent.personas.calling import called_in, default_of, named
from agent.turn.values import Why

if TYPE_CHECKING:
    from agent.contracts.people import Account, Persona
    from agent.events import MessageCreated
    from agent.places import Place


class Reason(StrEnum):
    """Why no reply is due."""

    BOT = "bot"
    EMPTY = "empty"
    NOT_ADDRESSED = "not_addressed"
    COOLDOWN = "cooldown"
    QUOTA = "quota"
    SPENT = "spent"
    QUEUE_FULL = "queue_full"
    UNKNOWN_SPEAKER = "unknown_speaker"
    DENIED = "denied"
    MUTE = "mute"
    """The agent may not write there."""
    DELETED = "deleted"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Addressing:
    """How this deployment and place want the agent to be called."""

    auto_channels: frozenset[str] = frozenset()
    """Channels (`platform:id`) where every message is answered."""
    deliberate: bool = False
    """Answer only direct messages, mentions and replies."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """A reply is due, by this persona."""

    why: Why
    persona: Persona


@dataclass(frozen=True, slots=True)
class Declined:
    """No reply is due."""

    reason: Reason


def decide(
    event: MessageCreated, place: Place, account: Account, personas: tuple[Persona, ...], addressing: Addressing
) -> Admitted | Declined:
    """Decide whether a message is addressed to the agent, and to which persona.

    `personas` are those of the server and hold exactly one default. A person with privacy FULL is answered only
    when they address the agent on purpose.
    """
    if event.author.is_bot:
        return Declined(Reason.BOT)
    if not event.text.strip() and not event.attachments and not event.extras:
        return Declined(Reason.EMPTY)
    called = _called(event, personas)
    why = _on_purpose(event, place)
    if why is None and not addressing.deliberate and account.privacy is not PrivacyLevel.FULL:
        why = _by_chance(place, addressing, is_called=called is not None)
    if why is None:
        return Declined(Reason.NOT_ADDRESSED)
    answered = event.reply.persona_id if why is Why.REPLY and event.reply is not None else None
    replied = next((persona for persona in personas if persona.persona_id == answered), None)
    return Admitted(why, replied or called or default_of(personas))


def _called(event: MessageCreated, personas: tuple[Persona, ...]) -> Persona | None:
    """Return the persona that was chosen for this message, else the one that its text calls."""
    if event.persona is not None and (chosen := named(personas, event.persona)) is not None:
        return chosen
    found = called_in(event.text, personas)
    return found.persona if found else None


def _on_purpose(event: MessageCreated, place: Place) -> Why | None:
    """Return how the message addresses the agent beyond doubt, if it does."""
    if event.reply is not None and event.reply.to_agent:
        return Why.REPLY
    if place.server.is_direct:
        return Why.DIRECT
    return Why.MENTION if event.mentions_agent else None


def _by_chance(place: Place, addressing: Addressing, *, is_called: bool) -> Why | None:
    """Return why a message that addresses nobody on purpose is answered all the same, if it is."""
    if is_called:
        return Why.TRIGGER
    here = {place.channel.ref.external_id, place.channel.ref.parent_external_id}
    return Why.AUTO if any(f"{place.platform}:{channel}" in addressing.auto_channels for channel in here) else None


@dataclass(slots=True)
class Quotas:
    """How many answers each account got today (UTC)."""

    most: int | None
    """Answers a day; None: any number."""
    _day: date | None = None
    _given: Counter[int] = field(default_factory=Counter)

    def admits(self, account_id: int, now: datetime) -> bool:
        """Tell whether the account may be answered once more today; if so, that is counted."""
        if self.most is None:
            return True
        today = now.astimezone(UTC).date()
        if today != self._day:
            self._day = today
            self._given.clear()
        if self._given[account_id] >= self.most:
            return False
        self._given[account_id] += 1
        return True


@dataclass(slots=True)
class Cooldowns:
    """When each account was last answered; forgets what no longer matters."""

    wait: timedelta
    """The pause between two answers to one account."""
    _answered: dict[int, datetime] = field(default_factory=dict)

    def admits(self, account_id: int, now: datetime) -> bool:
        """Tell whether the account may be answered now; if so, its pause begins."""
        if not self.wait:
            return True
        last = self._answered.get(account_id)
        if last is not None and now - last < self.wait:
            return False
        if len(self._answered) >= 10_000:  # noqa: PLR2004 - bounds memory; the oldest pauses are over
            self._answered = {key: at for key, at in self._answered.items() if now - at < self.wait}
        self._answered[account_id] = now
        return True
