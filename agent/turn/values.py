"""The values that go from step to step of a turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent.bridge import HistoryMessage
    from agent.contracts.people import Account, Participant, Persona, Speaker
    from agent.events import MessageCreated
    from agent.identity.keys import ParticipantKey
    from agent.places import Place


class Outcome(StrEnum):
    """How a turn ended; each turn has exactly one."""

    ANSWERED = "answered"
    IGNORED = "ignored"
    ABANDONED = "abandoned"


class Why(StrEnum):
    """Why a message is answered."""

    DIRECT = "direct"
    MENTION = "mention"
    REPLY = "reply"
    TRIGGER = "trigger"
    AUTO = "auto"
    COMMAND = "command"


@dataclass(frozen=True, slots=True)
class Turn:
    """Everything that is known when a reply is begun; contributors and guards read it."""

    turn_id: str
    event: MessageCreated
    place: Place
    account: Account
    """Who answers for the message: privacy, blacklist, cooldown, quota, rights."""
    speaker: Speaker
    """Who said it: name, pronouns, personal memories."""
    persona: Persona
    bot_name: str
    now: datetime
    why: Why
    attempt: int
    participants: tuple[Participant, ...] = ()
    """The speaker first, then who else takes part, most recent first."""
    history: tuple[HistoryMessage, ...] = ()
    impersonating: Account | None = None
    preferences: Mapping[str, Any] = field(default_factory=dict)
    """The settings in force in this place, by key."""
    revisions: Mapping[str, int] = field(default_factory=dict)
    """Owner → revision, read in the turn's first statement (memory.md, Caches)."""
    bot_keys: frozenset[ParticipantKey] = frozenset()
    """The agent's own accounts and webhooks on this platform."""
    replaces: tuple[str, ...] = ()
    """The messages of the earlier answer that get the new text, in order."""
    locale: str = "en"


def server_owner(server_id: int) -> str:
    """Return the key of a server in `owner_revisions`."""
    return f"server:{server_id}"


def user_owner(user_id: int) -> str:
    """Return the key of a user in `owner_revisions`."""
    return f"user:{user_id}"
