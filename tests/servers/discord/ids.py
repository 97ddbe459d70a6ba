"""Snowflakes as Discord makes them, and the instants that they hold."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

EPOCH_MS = 1_420_070_400_000


class Snowflakes:
    """Gives ids that grow, also within one millisecond; `clock` tells the seconds since 1970."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._last = 0

    def next(self) -> int:
        self._last = max(self._last + 1, (int(self._clock() * 1000) - EPOCH_MS) << 22)
        return self._last

    def next_apart(self) -> int:
        """An id a millisecond after the one before, so that the ids of several servers spread over the shards."""
        self._last = max(((self._last >> 22) + 1) << 22, (int(self._clock() * 1000) - EPOCH_MS) << 22)
        return self._last


def instant(snowflake: int) -> str:
    """When the id was made, as Discord writes it."""
    seconds = ((snowflake >> 22) + EPOCH_MS) / 1000
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
