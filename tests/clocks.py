"""A clock that a test moves by hand."""

from __future__ import annotations

from datetime import datetime, timedelta


class ManualClock:
    def __init__(self, start: datetime) -> None:
        self._now = start
        self._monotonic = 0.0

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    def advance(self, by: timedelta) -> None:
        self._now += by
        self._monotonic += by.total_seconds()
