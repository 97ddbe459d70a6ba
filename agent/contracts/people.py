"""People as the core knows them: accounts, speakers, personas, participants."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from agent.identity.keys import ParticipantKey, ParticipantKind


class PrivacyLevel(StrEnum):
    """What a person lets the agent keep; docs/privacy.md says what each level means."""

    NONE = "none"
    """No restriction."""
    PARTIAL = "partial"
    """No personal memories are saved or shown; name and mention only."""
    FULL = "full"
    """Also invisible: left out of context, never named or suggested."""

    @property
    def restricts(self) -> bool:
        """Tell whether memories about the person are refused."""
        return self is not PrivacyLevel.NONE

    @property
    def rank(self) -> int:
        """Return how strict the level is; the stricter one holds where two meet."""
        return list(PrivacyLevel).index(self)


@dataclass(frozen=True, slots=True)
class Account:
    """The platform user who answers for a message, with its row."""

    account_id: int
    user_id: int | None
    """The user row that can own personal memories; None for a bridge user."""
    platform: str
    key: ParticipantKey
    display_name: str
    """As shown in the present server: untrusted text."""
    username: str | None
    privacy: PrivacyLevel
    """As it was when the turn began; writes ask again inside their transaction."""
    forgotten_before: datetime | None = None
    """Whatever comes from before this moment must not be kept (memory.md, Forgetting a person)."""

    @property
    def is_bridge_user(self) -> bool:
        """Tell whether this person has no user row."""
        return self.user_id is None


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who said it: usually the account itself; for an attested proxied message a stable identity of its own."""

    key: ParticipantKey
    user_id: int | None
    display_name: str
    pronouns: str | None = None
    system: str = ""
    """Of a proxied identity: the name of its system, where that is known."""
    host_account_ids: tuple[int, ...] = ()
    """Of a proxied identity: every account that is known to share it, by ascending id."""

    @property
    def is_proxied(self) -> bool:
        """Tell whether a proxy service attested this speaker."""
        return self.key.kind is ParticipantKind.PROXY_IDENTITY


@dataclass(frozen=True, slots=True)
class Registration:
    """A proxied identity that a service has just attested, with the message in which it spoke."""

    speaker: Speaker
    is_new: bool
    """Whether this was the first time."""
    bio: str | None
    """What its service publishes about it; untrusted text."""
    account_id: int
    """The account that answers for the message."""
    platform: str
    server_id: int
    channel_external_id: str
    message_id: str
    occurred_at: datetime


@dataclass(frozen=True, slots=True)
class Persona:
    """A character that the agent plays in a server."""

    persona_id: int
    server_id: int
    lineage_id: int
    """Memories are partitioned by it; 1 is shared by all default personas, 0 belongs to no persona."""
    nickname: str
    prompt: str
    avatar: str | None
    triggers: tuple[str, ...]
    is_default: bool
    is_renamed: bool = False
    """Whether a default persona bears another name than the deployment's, which the agent's own account bears."""
    affixes: tuple[str, ...] = ()
    """What it puts before or behind people's names when it speaks to them, as `master` or `-chan`."""


GLOBAL_LINEAGE = 0
"""The lineage of global personal memories, which every persona sees."""
DEFAULT_LINEAGE = 1
"""The lineage that all default personas share."""


@dataclass(frozen=True, slots=True)
class Participant:
    """Somebody who takes part in a conversation, with the handle that is unique in it."""

    handle: str
    """As the model writes it between `@{` and `}`: `ana`, `ana~2`."""
    label: str
    account: Account
    speaker: Speaker
    blacklisted: bool = False
    """Whether this server does not want the person personalised."""

    @property
    def may_be_remembered(self) -> bool:
        """Tell whether personal memories may be shown (core privacy; guards may still refuse)."""
        return not self.blacklisted and not self.account.privacy.restricts


class Refusal(StrEnum):
    """Why a guard refused."""

    PRIVACY_RESTRICTED = "privacy_restricted"
    BLACKLISTED = "blacklisted"
    HOST_PROTECTED = "host_protected"
    FORGOTTEN = "forgotten"
    GUARD_FAILED = "guard_failed"
    """A guard raised, answered late, or answered something that is no answer: that is a denial."""
    DISABLED = "disabled"
    """Those who manage the server have switched it off."""
    NO_GUARD = "no_guard"
    """Nothing loaded covers what must be guarded."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Denial:
    """A guard's refusal; `text` may be shown to the model, so it discloses nothing about a person."""

    code: Refusal
    text: str
