"""Our own bounded retries: the provider's client makes none, so that one place keeps a turn's time."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from agent import metrics
from agent.logs import get_logger
from agent.models.errors import Failure, FailureKind, ModelFailed, classify

_log = get_logger(__name__)

metrics.declare(
    "model_failures",
    "counter",
    ("model", "kind"),
    "Requests that failed, retried ones included.",
    level="debug",
)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long: waits double from `first_wait` to `longest_wait` seconds, each with jitter."""

    attempts: int = 4
    """Requests in all, the first one included."""
    empty_attempts: int = 2
    """The same for replies that are empty: a model that has nothing to say rarely finds more."""
    first_wait: float = 0.5
    longest_wait: float = 8.0

    def attempts_for(self, kind: FailureKind) -> int:
        """Return how many requests are made in all when they fail like this."""
        return self.empty_attempts if kind is FailureKind.EMPTY else self.attempts


DEFAULT_POLICY: Final = RetryPolicy()


def wait_before_retry(policy: RetryPolicy, attempt: int, failure: Failure, chance: float) -> float:
    """Return the seconds to wait after the given attempt (counted from 1).

    A provider that says how long gets at least that; otherwise the wait doubles, and `chance` (0 to 1) spreads it
    over its upper half, so that many turns do not come back together.
    """
    if failure.retry_after is not None:
        return max(0.0, failure.retry_after) * (1 + 0.1 * chance)
    doubled = policy.first_wait * float(2 ** (attempt - 1))
    return min(doubled, policy.longest_wait) * (0.5 + 0.5 * chance)


@dataclass(frozen=True, slots=True)
class Retries:
    """Retries with everything of the outer world passed in."""

    policy: RetryPolicy = DEFAULT_POLICY
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    chance: Callable[[], float] = random.random

    async def run[T](
        self, request: Callable[[float], Awaitable[T]], remaining: Callable[[], float], model: str = ""
    ) -> T:
        """Return what `request` returns; retry what may get better while there is time.

        Args:
            request: Makes one request; gets the seconds that are left.
            remaining: Tells the seconds that are left of the turn.
            model: Under which name failures are counted.

        Raises:
            ModelFailed: with the last failure; its kind is `time_limit` when the turn's time ran out.
        """
        attempt = 0
        while True:
            attempt += 1
            if (left := remaining()) <= 0:
                raise ModelFailed(Failure(FailureKind.TIME_LIMIT))
            try:
                return await request(left)
            except Exception as error:  # noqa: BLE001 - each kind is told apart by classify
                failure = classify(error)
                if failure.kind is FailureKind.UNKNOWN:
                    _log.error("model_request_error", attempt=attempt, exc_info=error)
                metrics.emit("model_failures", model=model, kind=failure.kind.value)
                await self._wait_or_give_up(failure, attempt, remaining(), error)

    async def _wait_or_give_up(self, failure: Failure, attempt: int, left: float, error: Exception) -> None:
        wait = wait_before_retry(self.policy, attempt, failure, self.chance())
        again = failure.retryable and attempt < self.policy.attempts_for(failure.kind) and wait < left
        _log.warning(
            "model_request_failed",
            kind=failure.kind.value,
            error=failure.error,
            status=failure.status,
            code=failure.code,
            attempt=attempt,
            wait=round(wait, 3) if again else None,
        )
        _log.debug("model_request_failed_detail", detail=failure.detail)
        if not again:
            is_late = failure.kind is FailureKind.TIMEOUT and left <= 0
            raise ModelFailed(Failure(FailureKind.TIME_LIMIT) if is_late else failure) from error
        await self.sleep(wait)
