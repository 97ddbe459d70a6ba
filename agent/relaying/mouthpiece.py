"""Speaking in somebody else's guise: what a bridge offers on whose platform a relay lets people speak."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from agent.events import Attachment
from agent.files import ReplyFile
from agent.identity.keys import ParticipantKey
from agent.places import ChannelRef, ServerRef

if TYPE_CHECKING:
    from collections.abc import Collection

    from agent.bridge import OutcomeUnknown


@dataclass(frozen=True, slots=True)
class Guise:
    """Under which name and picture somebody speaks: presentation, never identity."""

    name: str
    avatar: str | None = None
    """The address of a picture that the platform can load."""


@dataclass(frozen=True, slots=True)
class Words:
    """What somebody says from elsewhere, in a form that the platform takes."""

    server: ServerRef
    channel: ChannelRef
    guise: Guise
    text: str
    mentions: tuple[ParticipantKey, ...] = ()
    """The only accounts that may be pinged: each stands in the text as `<@ID>`."""
    file: ReplyFile | None = None
    answers: str | None = None
    """The platform's id of the message that is answered; it is linked in front of the text."""
    quote: str = ""
    """What is answered, shortened to one line, for those who do not follow the link."""


@dataclass(frozen=True, slots=True)
class Voiced:
    """It stands on the platform; the two ids together are how it is known from then on."""

    message_id: str
    webhook_id: str
    files: tuple[Attachment, ...] = ()
    """The files that went along, as the platform's own bridge reads them."""


class Mouthpiece(Protocol):
    """Lets others speak on one platform."""

    @property
    def text_limit(self) -> int:
        """Longest text of one message, in characters, with what is put in front of an answer."""
        ...

    @property
    def file_limit(self) -> int:
        """Bytes of a file that may go along."""
        ...

    async def where(self, channel_id: str) -> tuple[ServerRef, ChannelRef] | None:
        """Return where a channel or thread is; None when it is not known and cannot be found out."""
        ...

    def names(self, server: ServerRef, text: str) -> dict[str, str]:
        """Return, by the form in which a text holds it, how people, roles and channels of a server are called."""
        ...

    async def speak(self, words: Words) -> Voiced | OutcomeUnknown:
        """Post once; there is no key, so that whoever calls twice must have looked (`find_words`) in between.

        Raises:
            agent.bridge.SendFailed: the platform refused, and nothing was posted.
        """
        ...

    async def find_words(self, words: Words, since: datetime, known: Collection[str]) -> Voiced | None:
        """Read back whether it stands there since a moment, and is none of the messages that are known.

        Raises:
            Exception: the history does not tell.
        """
        ...

    async def change(self, message_id: str, words: Words) -> None:
        """Give what was said another text; doing it twice is harmless.

        Raises:
            agent.bridge.SendFailed: the platform refused, or it is gone.
        """
        ...

    async def retract(self, channel: ChannelRef, message_id: str) -> None:
        """Delete what was said, or what anybody has said there; what is gone already is done.

        Raises:
            agent.bridge.SendFailed: the platform refused.
        """
        ...

    async def react(self, channel: ChannelRef, message_id: str, emoji: str, *, on: bool) -> None:
        """Show or take back the agent's own reaction, which stands for those from elsewhere.

        Raises:
            agent.bridge.SendFailed: the platform refused.
        """
        ...
