"""What can go wrong with a request to a model, and what is to be done about it.

::

    ModelSetupError   the settings name a model that cannot be made (raised at start)
    ModelFailed       a request failed for good, after its retries; carries a Failure
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final


class FailureKind(StrEnum):
    """Why a turn got no answer."""

    RATE_LIMITED = "rate_limited"
    QUOTA = "quota"
    """The account's quota or credit is used up: waiting does not help."""
    UNAVAILABLE = "unavailable"
    """The provider answered 5xx or says that it is overloaded."""
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    TRUNCATED = "truncated"
    """The answer broke off before its end."""
    BAD_RESPONSE = "bad_response"
    """The answer is not what the protocol says."""
    EMPTY = "empty"
    BLOCKED = "blocked"
    """The provider's content filter."""
    REJECTED = "rejected"
    """The provider refuses the request itself: an error in it or in the settings."""
    TOO_LONG = "too_long"
    """The prompt does not fit the model."""
    AUTHENTICATION = "authentication"
    NOT_FOUND = "not_found"
    CALL_LIMIT = "call_limit"
    TOKEN_LIMIT = "token_limit"  # noqa: S105 - a count of tokens, not a secret
    TIME_LIMIT = "time_limit"
    UNKNOWN = "unknown"


RETRYABLE: Final = frozenset(
    {
        FailureKind.RATE_LIMITED,
        FailureKind.UNAVAILABLE,
        FailureKind.TIMEOUT,
        FailureKind.CONNECTION,
        FailureKind.TRUNCATED,
        FailureKind.BAD_RESPONSE,
        FailureKind.EMPTY,
    }
)


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed request, classified."""

    kind: FailureKind
    retry_after: float | None = None
    """Seconds that the provider asks to wait."""
    status: int | None = None
    """The HTTP status, where there was one."""
    code: str | None = None
    """The provider's own code."""
    error: str = ""
    """The name of the exception's class."""
    detail: str = ""
    """The provider's words. They may quote the prompt: for the debug level only."""

    @property
    def retryable(self) -> bool:
        """Tell whether sending the same request again may help."""
        return self.kind in RETRYABLE


class ModelSetupError(Exception):
    """A model cannot be made from the settings; the message says what to set or install."""


class ModelFailed(Exception):
    """A request failed for good."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.kind.value)
        self.failure = failure


class EmptyReply(Exception):
    """The model answered with neither text nor a call."""


class BlockedReply(Exception):
    """The provider's content filter took the whole answer."""


@cache
def _by_class() -> tuple[tuple[type[BaseException], FailureKind], ...]:
    """Return the kind of each exception; the more special class stands before the more general."""
    from pydantic_ai import exceptions as known

    return (
        (EmptyReply, FailureKind.EMPTY),
        (BlockedReply, FailureKind.BLOCKED),
        (known.ContentFilterError, FailureKind.BLOCKED),
        (known.ModelRateLimitError, FailureKind.RATE_LIMITED),
        (known.ModelQuotaExceededError, FailureKind.QUOTA),
        (known.ModelUnavailableError, FailureKind.UNAVAILABLE),
        (known.ModelServerError, FailureKind.UNAVAILABLE),
        (known.ModelContextWindowExceededError, FailureKind.TOO_LONG),
        (known.ModelAuthenticationError, FailureKind.AUTHENTICATION),
        (known.ModelNotFoundError, FailureKind.NOT_FOUND),
        (known.ModelRequestRejectedError, FailureKind.REJECTED),
        (known.ModelTimeoutError, FailureKind.TIMEOUT),
        (known.ModelRequestTimeout, FailureKind.TIMEOUT),
        (TimeoutError, FailureKind.TIMEOUT),
        (known.UnexpectedModelBehavior, FailureKind.BAD_RESPONSE),
        (ConnectionError, FailureKind.CONNECTION),
    )


def _is_cut_off(error: BaseException) -> bool:
    """Tell whether an answer had begun and broke off."""
    from pydantic_ai.exceptions import ModelConnectionError

    if isinstance(error, ModelConnectionError):
        # An incomplete body is a protocol error of reading; a connection that never opened is not.
        return error.phase == "read" and "RemoteProtocolError" in _causes(error)
    return "without a `finish_reason`" in str(error)


def _causes(error: BaseException) -> set[str]:
    names: set[str] = set()
    cause: BaseException | None = error
    while cause is not None and type(cause).__name__ not in names:
        names.add(type(cause).__name__)
        cause = cause.__cause__
    return names


def _kind(error: BaseException) -> FailureKind:
    from pydantic_ai import exceptions as known

    for kind_of, kind in _by_class():
        if isinstance(error, kind_of):
            return kind
    if isinstance(error, known.ModelConnectionError):
        return FailureKind.TRUNCATED if _is_cut_off(error) else FailureKind.CONNECTION
    if isinstance(error, known.ModelHTTPError):
        return FailureKind.UNAVAILABLE if error.status_code >= 500 else FailureKind.REJECTED  # noqa: PLR2004
    if isinstance(error, known.ModelAPIError):
        return FailureKind.TRUNCATED if _is_cut_off(error) else FailureKind.BAD_RESPONSE
    return FailureKind.UNKNOWN


def classify(error: BaseException) -> Failure:
    """Return what kind of failure an exception of a request is."""
    if isinstance(error, ModelFailed):
        return error.failure
    code = getattr(error, "provider_error_code", None) or getattr(error, "provider_error_type", None)
    return Failure(
        kind=_kind(error),
        retry_after=getattr(error, "retry_after", None),
        status=getattr(error, "status_code", None),
        code=str(code) if code else None,
        error=type(error).__name__,
        detail=str(error)[:1_000],
    )
