"""What the loop of a turn is limited by, and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from agent.models.errors import FailureKind
from agent.models.usage import Usage


@dataclass(frozen=True, slots=True)
class LoopLimits:
    """What one turn may use."""

    calls: int = 16
    """Tool calls; one that is refused (unknown tool, bad arguments) counts too."""
    invalid_calls: int = 5
    """Calls that are refused, after which the model may call no more."""
    tokens: int = 100_000
    """Input and output of all requests together; no request is begun when they are used up."""
    seconds: float = 120.0
    """From the loop's start to its answer."""
    tool_seconds: float = 30.0
    """One tool call."""
    reply_chars: int = 16_000
    """Characters of the answer; what is more is cut off."""
    wire_messages: int = 60
    """Messages of any request."""


class StopReason(StrEnum):
    """Why the loop ended with a text."""

    ANSWERED = "answered"
    CUT = "cut"
    """The answer was longer than `reply_chars`, or than the model's own limit."""
    CALL_LIMIT = "call_limit"
    """The model was asked to answer without further calls."""
    TOKEN_LIMIT = "token_limit"  # noqa: S105 - a count of tokens, not a secret
    """The tokens were used up; the text is what the model had said by then."""
    TIME_LIMIT = "time_limit"
    """The same for the time."""


@dataclass(frozen=True, slots=True)
class LoopResult:
    """The answer of a turn; `text` is never empty."""

    text: str
    usage: Usage
    calls: int
    """Tool calls of the whole turn, those before a restart included."""
    stop_reason: StopReason


class TurnFailed(Exception):
    """The turn has no answer; the log has the detail under `error_id`.

    Effects that were recorded before stay, and so do their cards.
    """

    def __init__(self, error_id: str, kind: FailureKind, usage: Usage, calls: int) -> None:
        super().__init__(f"{kind.value} ({error_id})")
        self.error_id = error_id
        self.kind = kind
        self.usage = usage
        self.calls = calls
