"""What the parts of the plugin tell each other: frozen values, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from agent.events import MessageCreated


class Service(StrEnum):
    """The services that an instance can be of."""

    PLURALKIT = "pluralkit"
    PLURALBUDDY = "pluralbuddy"
    TUPPERBOX = "tupperbox"


@dataclass(frozen=True, slots=True)
class Descriptor:
    """What a service can do, and how people call it."""

    service: Service
    title: str
    attests: bool
    """Whether it can be asked who said a message; where not, its reposts have no identity and start no turn."""
    bearer: bool = False
    """Whether its token is an OAuth one."""
    names_original: bool = False
    """Whether its answer names the message that was reposted; where not, one that was posted late starts no turn."""


@dataclass(frozen=True, slots=True)
class Instance:
    """One running service that may be asked."""

    instance_id: int
    name: str
    descriptor: Descriptor
    origin: str
    """`https://host[:port]`; empty where there is nothing to ask."""
    application_id: str | None = None
    """The application that posts for it, where that is known for certain."""
    learned: str | None = None
    """The application that posted what it last attested: it may change."""
    prefixes: tuple[str, ...] = ()
    """What commands of the service begin with: they are reposted as somebody's words, and start no turn."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a system as its service shows it to everybody."""

    key: str
    """Never changes: PluralKit's uuid, PluralBuddy's digits."""
    name: str
    pronouns: str | None = None
    bio: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The service knows the message."""

    message_id: str
    original_id: str | None
    sender_id: str
    channel_id: str
    system_key: str | None
    """None when the system or the member is gone: then there is no identity."""
    system_name: str
    member: Member | None


@dataclass(frozen=True, slots=True)
class Miss:
    """The service says that it does not know the message; that may change within seconds."""


@dataclass(frozen=True, slots=True)
class Failed:
    """Nothing is known: the service did not answer, or not in a way that can be read."""

    reason: str
    retry_after: float | None = None
    """Seconds, where trying again may help; None where it does not."""


type Lookup = Found | Miss | Failed


@dataclass(frozen=True, slots=True)
class Expectation:
    """A message of somebody who uses a service, which may be reposted."""

    instance_id: int
    account_id: int
    sender_id: str
    event: MessageCreated
    """Without its text and files."""
    is_command: bool
    """Whether it is an order to the service."""


class Outcome(StrEnum):
    """What became of a webhook's message; the labels of the metric, and nothing else ever is."""

    UNSUPPORTED = "unsupported"
    UNMATCHED = "unmatched"
    UNAVAILABLE = "unavailable"
    CONFLICTING = "conflicting"
    MATCHED_TRIGGER = "matched_trigger"
    MATCHED_IDENTITY = "matched_identity"


@dataclass(frozen=True, slots=True)
class Claim:
    """One service's word for a message, and the expectation that it fits."""

    instance: Instance
    found: Found
    member: Member
    system_key: str
    expectation: Expectation


@dataclass(frozen=True, slots=True)
class Known:
    """An identity as it stands in the index, with the message that it said."""

    user_id: int
    key: str
    """`instance:member`, the id of its `ParticipantKey`."""
    name: str
    pronouns: str | None
    system: str
    hosts: tuple[int, ...]
    account_id: int
    triggers: bool
    """Whether the message is answered in the place of its original."""
    is_new: bool = False
    """Whether it was attested for the first time just now."""
