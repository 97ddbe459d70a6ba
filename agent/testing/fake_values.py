"""The values of the fake platform: its messages, its places, and what may go wrong with a send."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from agent.contracts.cards import Card
from agent.events import Attachment, Author
from agent.files import ReplyFile
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.places import ChannelRef, ServerKind, ServerRef, Visibility


@dataclass(frozen=True, slots=True)
class FakeMessage:
    """A message as the fake platform keeps it, of a person or of the agent."""

    message_id: str
    """Digits; what was said later has the greater number."""
    server: ServerRef
    channel: ChannelRef
    author: Author
    text: str
    occurred_at: datetime
    event_id: str | None = None
    """Of a person's message the event that told the agent; of the agent's the event that it answers."""
    reply_to: str | None = None
    """The id of the message that is answered."""
    card: Card | None = None
    """Set for a notice of the agent."""
    key: str | None = None
    """Of the agent's: the idempotency key that it was sent under."""
    part: int = 0
    allowed_mentions: tuple[ParticipantKey, ...] | None = ()
    """Who may be pinged by what the text holds; None: everybody, `@everyone` included."""
    attachments: tuple[Attachment, ...] = ()
    extras: tuple[str, ...] = ()
    persona_name: str | None = None
    from_agent: bool = False
    file: ReplyFile | None = None
    """What came with it."""


AGENT_KEY: Final = ParticipantKey(ParticipantKind.BOT, "agent")
"""The agent's own account, the same on every fake platform."""


class Replay(StrEnum):
    """What the platform brings when an agent connects."""

    MISSED = "missed"
    """Events that were never acknowledged, as a platform does that can resume."""
    EVERYTHING = "everything"
    """Every event that there ever was, in order: the agent must know them again."""
    NOTHING = "nothing"
    """Only what happens from then on."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The send is refused and nothing is posted (`SendFailed`)."""

    reason: str = "refused by the fake platform"
    retry_after: float | None = None
    """Seconds; None says that trying again does not help."""


@dataclass(frozen=True, slots=True)
class Lost:
    """The answer to the send is lost (`OutcomeUnknown`)."""

    posted: bool
    """Whether the message is there all the same."""


@dataclass(frozen=True, slots=True)
class Slow:
    """The send takes a while, and then succeeds."""

    seconds: float


type SendFault = Refused | Lost | Slow


class EventRefused(Exception):
    """The agent raised when it was given an event; the cause is its exception, or tells of it."""


class NothingCame(TimeoutError):
    """What a test waited for did not come; the text says what did."""


class ConnectionLost(ConnectionError):
    """The connection between the platform and an agent broke."""


def server_ref(platform: str, server: str, channel: str) -> ServerRef:
    """Return the server that holds a channel; a direct conversation (`@ana`) is a server of its own."""
    if channel.startswith("@"):
        return ServerRef(platform, channel, channel, ServerKind.DIRECT)
    return ServerRef(platform, server, server)


def channel_ref(server: str, channel: str, visibility: Visibility = Visibility.EVERYONE) -> ChannelRef:
    """Return a channel by its path: `general`, a thread as `general/plans`, a direct conversation as `@ana`."""
    if channel.startswith("@"):
        return ChannelRef(channel, channel, Visibility.DIRECT)
    parent, _, thread = channel.partition("/")
    if not thread:
        return ChannelRef(f"{server}/{channel}", channel, visibility)
    return ChannelRef(f"{server}/{channel}", thread, visibility, f"{server}/{parent}", parent)
