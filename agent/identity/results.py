"""What the resolver answers: five results, matched exhaustively; none of them is a guess."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from agent.contracts.people import Account, Speaker
from agent.identity.keys import ParticipantKey


class Step(StrEnum):
    """What decided."""

    MENTION = "mention"
    """An explicit mention, by id."""
    HANDLE = "handle"
    """A handle of the conversation."""
    SPEAKER = "speaker"
    """`me`, or the speaker's own handle."""
    BOT = "bot"
    """`{bot}`, or a name that only the agent bears here."""
    NAME = "name"
    """The only owner of that name in this server."""
    LABEL = "label"
    """Of several owners the only participant who is shown under that name."""
    LOOK = "look"
    """Somebody else bears a name that looks the same; only in `Ambiguous`."""
    AFFIX = "affix"
    """What was left of the name without an affix of the persona, or without brackets or quotes around it."""

    @property
    def rests_on_a_name(self) -> bool:
        """Tell whether somebody else whose name looks the same would make it ambiguous."""
        return self not in {Step.MENTION, Step.HANDLE, Step.SPEAKER}


@dataclass(frozen=True, slots=True)
class Resolved:
    """Exactly one person, who can own personal memories."""

    account: Account
    """Who answers for the person: privacy and blacklist are its."""
    speaker: Speaker
    """The person: the account itself, or a proxied identity."""
    label: str
    handle: str | None
    """The handle, when the person takes part in the conversation."""
    step: Step

    @property
    def user_id(self) -> int | None:
        """Return the owner of the personal memories."""
        return self.speaker.user_id


@dataclass(frozen=True, slots=True)
class Self:
    """The agent itself."""

    step: Step


@dataclass(frozen=True, slots=True)
class BridgeUser:
    """Exactly one person, who has no user row: personal scope falls back to server_wide."""

    account: Account
    display_name: str
    bridge: str | None
    """`relay` or `webhook`: what brought the person here from another platform; None for one in a native room."""
    step: Step
    handle: str | None = None
    """The handle, when the person takes part in the conversation."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One of several who may be meant; never somebody whose privacy is FULL."""

    key: ParticipantKey
    label: str
    distinction: str
    """What tells this one from the others of the same name: username or id, or that it is the agent."""
    handle: str | None
    """The handle of a participant: as the model may write it to mean this one."""
    reference: str
    """The handle, or a mention for somebody who takes no part: what means this one and nobody else when asked again."""


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """Several bear that name; some of them may not be listed."""

    name: str
    candidates: tuple[Candidate, ...]
    step: Step = Step.NAME
    """What decided that it is: `name`, `look`, `affix`, or `mention` where two kinds share an id."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Somebody with a name that is near; a question to ask back, never an answer."""

    key: ParticipantKey
    label: str
    name: str
    """The name that is near."""
    score: float
    """0 to 100."""


@dataclass(frozen=True, slots=True)
class NotFound:
    """Nobody here bears that name."""

    name: str
    suggestions: tuple[Suggestion, ...] = ()


type Resolution = Resolved | Self | BridgeUser | Ambiguous | NotFound


def rests_on_a_name(result: Resolution) -> bool:
    """Tell whether a name decided that it is this one, so that somebody whose name looks alike makes it ambiguous."""
    return isinstance(result, Resolved | Self | BridgeUser) and result.step.rests_on_a_name
