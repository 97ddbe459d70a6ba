"""An interaction while it is answered."""

import secrets
import time
from dataclasses import dataclass, field
from enum import IntEnum

from tests.servers.discord.records import JSON, Channel, Message, User


class Asked(IntEnum):
    """What an interaction is."""

    COMMAND = 2
    COMPONENT = 3
    AUTOCOMPLETE = 4
    MODAL = 5


class Callback(IntEnum):
    """How an application first answers."""

    PONG = 1
    MESSAGE = 4
    DEFERRED_MESSAGE = 5
    DEFERRED_UPDATE = 6
    UPDATE = 7
    CHOICES = 8
    MODAL = 9


@dataclass(frozen=True, slots=True)
class Modal:
    """A dialogue that somebody was shown."""

    custom_id: str
    title: str
    components: tuple[JSON, ...]
    user: User
    channel: Channel
    source: Message | None = None
    """The message whose component opened it."""


@dataclass(slots=True)
class Pending:
    id: int
    kind: Asked
    user: User
    channel: Channel
    command: JSON | None = None
    """The command that was called."""
    source: Message | None = None
    """The message whose component was used."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(96))
    born: float = field(default_factory=time.monotonic)
    callback: Callback | None = None
    thinking: bool = False
    """It was deferred with a message, and no text has come yet."""
    hidden: bool = False
    """The deferred message is for the caller alone."""
    original: int | None = None
    message_ids: list[int] = field(default_factory=list)
    deleted: set[int] = field(default_factory=set)
    modal: Modal | None = None
    choices: list[JSON] | None = None
    expired: bool = False
