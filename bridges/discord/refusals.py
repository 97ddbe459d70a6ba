"""What a failed request means, in words that hold no token."""

from __future__ import annotations

from typing import Final

import nextcord

from agent.bridge import OutcomeUnknown, SendFailed

UNKNOWN_CHANNEL: Final = 10_003
UNKNOWN_MESSAGE: Final = 10_008
UNKNOWN_WEBHOOK: Final = 10_015
MOST_WEBHOOKS: Final = 30_007
NO_ACCESS: Final = 50_001
NOT_THE_AUTHOR: Final = 50_005
NO_PERMISSION: Final = 50_013
NO_WEBHOOKS_HERE: Final = 50_024
BAD_WEBHOOK_TOKEN: Final = 50_027
BAD_FORM: Final = 50_035
MAY_NOT: Final = frozenset({NO_ACCESS, NO_PERMISSION})
"""Codes that say that the agent lacks a permission."""
GONE: Final = frozenset({UNKNOWN_CHANNEL, UNKNOWN_MESSAGE})
"""Codes that say that a message or its channel is not there any more."""

TRY_AGAIN: Final = 5.0
"""Seconds after which what failed on Discord's side is tried again."""
_LIMITED: Final = 429
_BROKEN: Final = 500


class Refused(SendFailed):
    """Discord refused, with a code of its own."""

    def __init__(self, reason: str, code: int, *, retry_after: float | None = None) -> None:
        super().__init__(reason, retry_after=retry_after)
        self.code = code


def code_of(error: BaseException) -> int:
    """Return Discord's own code of a refusal; 0 for anything else."""
    return error.code if isinstance(error, (nextcord.HTTPException, Refused)) else 0


def outcome_of(error: Exception) -> OutcomeUnknown:
    """Return what a failed post means: nothing is known when Discord did not answer, else it refused.

    Raises:
        SendFailed: nothing was posted.
    """
    if isinstance(error, nextcord.errors.HTTPInternalCancelled):
        raise failure_of(error) from None
    if isinstance(error, nextcord.HTTPException) and error.status < _BROKEN:
        raise failure_of(error) from error
    return OutcomeUnknown(type(error).__name__)


def failure_of(error: Exception) -> SendFailed:
    """Return a refusal in words that hold no token."""
    if not isinstance(error, nextcord.HTTPException):
        return SendFailed(type(error).__name__, retry_after=TRY_AGAIN)
    if error.status == _LIMITED:
        return Refused("Discord answered 429", error.code, retry_after=_pause(error))
    if error.status >= _BROKEN:
        return Refused(f"Discord answered {error.status}", error.code, retry_after=TRY_AGAIN)
    first = error.text.splitlines()[0] if error.text else ""
    return Refused(f"Discord answered {error.status} ({error.code}: {first})", error.code)


def _pause(error: nextcord.HTTPException) -> float:
    """Return the seconds that Discord asks for."""
    headers = error.response.headers
    try:
        return float(headers.get("X-RateLimit-Reset-After") or headers.get("Retry-After") or TRY_AGAIN)
    except ValueError:
        return TRY_AGAIN
