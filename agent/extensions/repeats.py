"""Keeps what happens again and again from filling the log: once, then at most once a minute with a count."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final

SECONDS: Final = 60.0
MOST_KEYS: Final = 1_000


@dataclass(slots=True)
class _Seen:
    told_at: float
    untold: int = 0


class Repeats[K: Hashable]:
    """Decides, for each key, whether a happening is told now; happenings in between are counted."""

    def __init__(self, monotonic: Callable[[], float], every: float = SECONDS) -> None:
        self._monotonic = monotonic
        self._every = every
        self._seen: dict[K, _Seen] = {}

    def happened(self, key: K) -> int:
        """Return how many happenings are to be told now, this one included; 0: say nothing this time."""
        now = self._monotonic()
        seen = self._seen.get(key)
        if seen is None:
            if len(self._seen) >= MOST_KEYS:
                del self._seen[next(iter(self._seen))]
            self._seen[key] = _Seen(now)
            return 1
        seen.untold += 1
        if now - seen.told_at < self._every:
            return 0
        count, seen.untold, seen.told_at = seen.untold, 0, now
        return count

    def take_untold(self) -> list[tuple[K, int]]:
        """Return what was counted and never told, and forget it all."""
        untold = [(key, seen.untold) for key, seen in self._seen.items() if seen.untold]
        self._seen.clear()
        return untold
