"""Time and fresh identifiers, passed in so that every rule can be tried with a chosen clock."""

from __future__ import annotations

import secrets
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What the agent asks for the time."""

    def now(self) -> datetime:
        """Return the present moment, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never go backwards; only differences mean anything."""
        ...


class Ids(Protocol):
    """Where fresh identifiers come from."""

    def new(self) -> str:
        """Return an identifier never returned before: 26 lower-case letters and digits, sortable by time."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the present moment, aware, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return seconds of the monotonic clock."""
        return time.monotonic()


class ShiftedClock:
    """The machine's clock moved to begin at a chosen moment (`--now TIME`)."""

    def __init__(self, start: datetime) -> None:
        self._offset = start.astimezone(UTC) - datetime.now(UTC)

    def now(self) -> datetime:
        """Return the present moment as seen from the chosen start."""
        return datetime.now(UTC) + self._offset

    def monotonic(self) -> float:
        """Return seconds of the monotonic clock."""
        return time.monotonic()


_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


class RandomIds:
    """ULIDs: 48 bits of milliseconds, then 80 random bits, in Crockford's base 32, lower case."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def new(self) -> str:
        """Return a fresh ULID."""
        value = (int(self._clock.now().timestamp() * 1000) << 80) | secrets.randbits(80)
        return "".join(_ALPHABET[(value >> shift) & 31] for shift in range(125, -1, -5))


def short_id(ids: Ids) -> str:
    """Return a fresh error id, short enough to be told by a person: the random end of an identifier."""
    return ids.new()[-8:]
