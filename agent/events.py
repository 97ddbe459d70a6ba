"""What bridges bring: frozen values that can be written as JSON and read back (`dump_event`, `load_event`)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Literal

from pydantic import TypeAdapter

from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.places import ChannelRef, ServerRef


@dataclass(frozen=True, slots=True)
class Author:
    """The platform account that a message comes from."""

    kind: ParticipantKind
    external_id: str
    display_name: str
    """The name shown in that server: untrusted text."""
    username: str | None = None
    is_bot: bool = False
    can_manage: bool = False
    """Whether the account may manage this server (architecture.md, Places and rights), as the bridge sees it."""
    platform: str | None = None
    """Where the account is, when it speaks from another platform than the one on which this is heard (a relay)."""
    avatar: str | None = None
    """The address of the picture that is shown with the name, where everybody can load it."""

    @property
    def key(self) -> ParticipantKey:
        """Return the key of this account."""
        return ParticipantKey(self.kind, self.external_id)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that came with a message; `url` is only for the bridge that brought it."""

    name: str
    content_type: str
    size: int
    """Bytes."""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a message answers."""

    message_id: str
    to_agent: bool = False
    """Whether that message was the agent's own (or one of its personas')."""
    persona_id: int | None = None
    author: Author | None = None
    """Who said it, where the bridge knows."""
    text: str = ""
    """What it said, where the bridge knows: it is quoted when it does not stand in the history."""
    attachments: tuple[Attachment, ...] = ()
    """What came with it, where the bridge knows: its pictures are shown to models that take them."""


@dataclass(frozen=True, slots=True)
class MessageCreated:
    """Somebody said something."""

    platform: str
    event_id: str
    """Unique on the platform: the same event delivered twice bears the same id."""
    message_id: str
    server: ServerRef
    channel: ChannelRef
    author: Author
    text: str
    occurred_at: datetime
    mentions_agent: bool = False
    mentions: tuple[ParticipantKey, ...] = ()
    """The accounts that the platform itself marked as mentioned."""
    reply: Reply | None = None
    attachments: tuple[Attachment, ...] = ()
    extras: tuple[str, ...] = ()
    """What came with the text, described: embeds, polls, stickers, what was forwarded. Untrusted like the text."""
    webhook_id: str | None = None
    application_id: str | None = None
    """The application that posted it through a webhook, where the platform tells."""
    persona: str | None = None
    """The name of the persona that shall answer, where it is chosen by other means than the text."""
    corrects: str | None = None
    """Set by the core: the event that brought the same message before it was edited, and was answered."""
    type: Literal["message_created"] = "message_created"


@dataclass(frozen=True, slots=True)
class MessageEdited:
    """A message got another text."""

    platform: str
    event_id: str
    message_id: str
    server: ServerRef
    channel: ChannelRef
    author: Author
    text: str
    occurred_at: datetime
    mentions_agent: bool = False
    """Whether it mentions the agent as it stands now."""
    said_at: datetime | None = None
    """When the message itself was said, where the bridge knows: what was said lately and mentions the agent only now is
    answered."""
    reply: Reply | None = None
    attachments: tuple[Attachment, ...] = ()
    extras: tuple[str, ...] = ()
    type: Literal["message_edited"] = "message_edited"


@dataclass(frozen=True, slots=True)
class MessageDeleted:
    """A message was deleted or redacted; who did it is often not told."""

    platform: str
    event_id: str
    message_id: str
    server: ServerRef
    channel: ChannelRef
    occurred_at: datetime
    type: Literal["message_deleted"] = "message_deleted"


@dataclass(frozen=True, slots=True)
class ReactionAdded:
    """Somebody reacted to a message."""

    platform: str
    event_id: str
    message_id: str
    server: ServerRef
    channel: ChannelRef
    author: Author
    emoji: str
    occurred_at: datetime
    type: Literal["reaction_added"] = "reaction_added"


Event = MessageCreated | MessageEdited | MessageDeleted | ReactionAdded


@cache
def _adapter() -> TypeAdapter[Event]:
    return TypeAdapter(Event)


def dump_event(event: Event) -> str:
    """Return the event as JSON text."""
    return _adapter().dump_json(event).decode()


def load_event(text: str) -> Event:
    """Read an event that `dump_event` wrote.

    Raises:
        pydantic.ValidationError: the text is no such event.
    """
    return _adapter().validate_json(text)
